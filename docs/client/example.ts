import { readFile } from 'node:fs/promises'
import { Tollgate, TollgateError } from './tollgate.ts'

const tollgate = new Tollgate({
  baseUrl: process.env['TOLLGATE_URL'] ?? 'http://localhost:8080',
  apiKey: process.env['TOLLGATE_API_KEY'] ?? '',
})

try {
  // An image model is synchronous: the response has the result. A quote gives the price in advance.
  const request = { model: 'z-image-turbo', input: { prompt: 'A quiet mountain lake at sunrise' } } as const
  const { credits } = await tollgate.quote(request)
  const picture = await tollgate.run(request)
  console.log(`An image for ${credits} credits: ${picture.output?.url}`)

  // Upload an image and edit it.
  const bytes = await readFile(new URL('../first-picture.jpg', import.meta.url))
  const upload = await tollgate.upload(new File([bytes], 'lake.jpg', { type: 'image/jpeg' }))
  const winter = await tollgate.run({
    model: 'nano-banana-2',
    input: { prompt: 'Make it winter', image_url: upload.url },
  })
  console.log(`The same lake in winter: ${winter.output?.url}`)

  // A video model is asynchronous: poll until the run has ended.
  const queued = await tollgate.run({
    model: 'gemini-omni-flash',
    input: { prompt: 'Waves on a beach at night', duration: 4, resolution: '360p' },
    metadata: { order: 17 },
  })
  const film = await tollgate.waitFor(queued)
  if (film.status === 'failed')
    console.log(`The video failed, and ${film.credits_refunded} credits were refunded: ${film.error?.message}`)
  else console.log(`A video: ${film.output?.url}`)

  console.log(`${await tollgate.balance()} credits are left.`)
} catch (error) {
  if (!(error instanceof TollgateError)) throw error
  const { code, required_credits, credits_balance } = error.fault
  if (code === 'insufficient_credits')
    console.log(`The run costs ${required_credits} credits, but only ${credits_balance} are left.`)
  else console.log(error.message)
  process.exitCode = 1
}
