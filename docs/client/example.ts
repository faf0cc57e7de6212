import { readFile } from 'node:fs/promises'
import { Tollgate, TollgateError } from './tollgate.ts'

const tollgate = new Tollgate({
  baseUrl: process.env['TOLLGATE_URL'] ?? 'http://localhost:8080',
  apiKey: process.env['TOLLGATE_API_KEY'] ?? '',
})

try {
  // A picture is answered with its result. The price is known beforehand.
  const request = { model: 'z-image-turbo', input: { prompt: 'A quiet mountain lake at sunrise' } } as const
  const { credits } = await tollgate.quote(request)
  const picture = await tollgate.begin(request)
  console.log(`A picture for ${credits} credits: ${picture.output?.url}`)

  // A picture of ours is uploaded, and changed.
  const bytes = await readFile(new URL('../first-picture.jpg', import.meta.url))
  const upload = await tollgate.upload(new File([bytes], 'lake.jpg', { type: 'image/jpeg' }))
  const winter = await tollgate.begin({
    model: 'nano-banana-2',
    input: { prompt: 'Make it winter', image_url: upload.url },
  })
  console.log(`The same lake in winter: ${winter.output?.url}`)

  // A film takes a while, and is asked for until it is there.
  const begun = await tollgate.begin({
    model: 'seedance-1-5-pro',
    input: { prompt: 'Waves on a beach at night', duration: 4, resolution: '480p' },
    metadata: { order: 17 },
  })
  const film = await tollgate.ended(begun)
  if (film.status === 'failed')
    console.log(`No film, and ${film.credits_refunded} credits back: ${film.error?.message}`)
  else console.log(`A film: ${film.output?.url}`)

  console.log(`${await tollgate.balance()} credits are left.`)
} catch (error) {
  if (!(error instanceof TollgateError)) throw error
  const { code, required_credits, credits_balance } = error.fault
  if (code === 'insufficient_credits')
    console.log(`That costs ${required_credits} credits, and ${credits_balance} are left.`)
  else console.log(error.message)
  process.exitCode = 1
}
