import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { reply, startVendorServer, type VendorRequest, type VendorServer } from './vendor-server.ts'

export const KEY = 'xi-test-1234567890'
export const VOICE = '21m00Tcm4TlvDq8ikWAM'
export const SOUND = Buffer.from('OggS and so on')

export interface ElevenLabsServer extends VendorServer {
  /** Answers all requests from now on in place of the API. */
  answer?: (response: ServerResponse, request: VendorRequest) => void
}

/** A server of ElevenLabs' API until the test ends: https://elevenlabs.io/docs/api-reference */
export const startElevenLabs = async (t: Test): Promise<ElevenLabsServer> => {
  const server: ElevenLabsServer = await startVendorServer(t, (request, response) => {
    if (server.answer) return server.answer(response, request)
    if (request.headers['xi-api-key'] !== KEY) return reply(response, 401, unauthorized)
    const { pathname, searchParams } = new URL(request.path, 'http://any')
    const route = `${request.method} ${pathname}`
    // https://elevenlabs.io/docs/api-reference/models/list
    if (route === 'GET /v1/models')
      return reply(response, 200, [{ model_id: 'eleven_v3', name: 'Eleven v3', can_do_text_to_speech: true }])
    const { body: schema, formats } = operations[route] ?? {}
    if (!schema || !formats) return reply(response, 404, { detail: 'Not Found' })
    const body: unknown = JSON.parse(request.body.toString())
    const format = searchParams.get('output_format') ?? 'mp3_44100_128'
    const unknown = [...searchParams.keys()].filter(name => !query.includes(name))
    if (!Value.Check(schema, body) || !formats.test(format) || unknown.length > 0) return reply(response, 422, wrong)
    const headers = { 'Content-Type': 'audio/mpeg', 'character-cost': '29', 'request-id': 'req_1' }
    response.writeHead(200, headers).end(SOUND)
  })
  return server
}

/** https://elevenlabs.io/docs/eleven-api/resources/errors */
export const errorBody = (type: string, code: string, message: string) => ({
  detail: { type, code, message, status: code, request_id: '3c807fc4c3a1705f9638ecc764a91c01' },
})

const unauthorized = errorBody('authentication_error', 'invalid_api_key', `Invalid API key ${KEY}`)

// The shape of 422 in https://api.elevenlabs.io/openapi.json, HTTPValidationError.
const wrong = { detail: [{ loc: ['body', 'text'], msg: 'Field required', type: 'missing' }] }

const query = ['output_format', 'enable_logging', 'optimize_streaming_latency']

const exactly = (properties: Record<string, TSchema>) => Type.Object(properties, { additionalProperties: false })
const maybe = Type.Optional
const text = Type.String({ minLength: 1 })
const share = maybe(Type.Number({ minimum: 0, maximum: 1 }))
const seed = maybe(Type.Integer({ minimum: 0, maximum: 4294967295 }))

const codecs = 'mp3_(22050_32|24000_48|44100_(32|64|96|128|192))|opus_48000_(32|64|96|128|192)'
const rates = '(8000|16000|22050|24000|32000|44100|48000)'

/** As the types of @elevenlabs/elevenlabs-js declare them. */
const operations: Record<string, { body: TSchema; formats: RegExp }> = {
  // https://elevenlabs.io/docs/api-reference/text-to-speech/convert
  [`POST /v1/text-to-speech/${VOICE}`]: {
    body: exactly({
      ...{ text, model_id: text, language_code: maybe(text), seed },
      apply_text_normalization: maybe(Type.Enum(['auto', 'on', 'off'])),
      voice_settings: maybe(
        exactly({
          ...{ stability: share, similarity_boost: share, style: share, use_speaker_boost: maybe(Type.Boolean()) },
          speed: maybe(Type.Number()),
        }),
      ),
    }),
    formats: new RegExp(`^(${codecs}|(pcm|wav)_${rates}|[au]law_8000)$`),
  },
  // https://elevenlabs.io/docs/api-reference/music/compose
  'POST /v1/music': {
    body: exactly({
      ...{ prompt: text, model_id: Type.Enum(['music_v1', 'music_v2']), seed },
      music_length_ms: maybe(Type.Integer({ minimum: 3000, maximum: 600_000 })),
      force_instrumental: maybe(Type.Boolean()),
    }),
    formats: new RegExp(`^(auto|${codecs}|mp3_48000_(128|192|240|320)|pcm_${rates}|[au]law_8000)$`),
  },
}
