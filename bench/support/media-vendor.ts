import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { picture, pngWith, tinySound } from '../../test/support/sample-files.ts'

/**
 * A server that returns files of so many bytes, as a process: pictures as Base64 in JSON like OpenAI, a sound like
 * ElevenLabs, and the address of a sound like fal.
 */
const [sizeBytes = '0', pictures = '1'] = process.argv.slice(2)
const sound = tinySound(Buffer.alloc(Number(sizeBytes)))
const pixels = Buffer.alloc(Math.floor(Number(sizeBytes) / Number(pictures)))
const base64 = pngWith(await picture('png'), 'tEXt', pixels).toString('base64')
const images = Buffer.from(JSON.stringify({ data: Array(Number(pictures)).fill({ b64_json: base64 }) }))

const JOB = '/fal-ai/lyria2/requests/764cabcf-b745-4b3e-ae38-1200304cf45b'

const server = createServer((request, response) => {
  const { origin, pathname: path } = new URL(request.url ?? '', `http://${request.headers.host}`)
  const json = (body: object) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
  request.resume().once('end', () => {
    // Without a length, as most vendors send it.
    if (path.endsWith('/images/generations')) response.setHeader('Content-Type', 'application/json').write(images)
    else if (path === '/sound.wav' || path.startsWith('/v1/text-to-speech/'))
      response.setHeader('Content-Type', 'audio/wav').write(sound)
    else if (path === `${JOB}/status`) return json({ status: 'COMPLETED' })
    else if (path === JOB) return json({ audio: { url: `${origin}/sound.wav` } })
    else return json({ request_id: JOB.split('/').at(-1), response_url: origin + JOB })
    return response.end()
  })
})
process.on('message', () => process.exit(0))
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
)
