import type { Contents, Done, Failed, Provider, UpstreamRequest } from '../../../ports/provider.ts'
import type { VendorAnswer } from '../../../ports/vendor-request.ts'
import { headerOf } from '../callback.ts'
import { checkFailure } from '../check-failure.ts'
import { isFile, LargeFiles } from '../large-files.ts'
import { UpstreamCall } from '../upstream-call.ts'
import { assertKey, type VendorDependencies } from '../vendor.ts'
import { failures } from './failures.ts'

const ELEVENLABS_URL = 'https://api.elevenlabs.io'

/** ElevenLabs without its client library, which takes a second to load and logs the key. */
export const createElevenLabsProvider = ({ key, baseUrl, request }: VendorDependencies): Provider => {
  assertKey(key, 'ELEVENLABS_API_KEY')
  const headers = { 'xi-api-key': key }
  const url = (path: string) => (baseUrl ?? ELEVENLABS_URL) + path
  return {
    submit: async ({ upstream, openFile }, signal) => {
      const call = new UpstreamCall(request, new LargeFiles(openFile))
      const { path, body } = requestOf(upstream)
      try {
        const answer = await call.sendJson(url(path), { headers: { ...headers, accept: 'audio/*' }, body, signal })
        return outcomeOf(answer, call.files.fromBody(answer.body), upstream)
      } catch (error) {
        return call.failure(error, failures, [key])
      }
    },
    check: async signal => {
      const call = new UpstreamCall(request)
      try {
        const models = await call.json(url('/v1/models'), { headers, signal })
        if (!Array.isArray(models)) throw new Error('the answer is not a list of models')
      } catch (error) {
        throw checkFailure(call, error, failures, { key, baseUrl, variable: 'ELEVENLABS' })
      }
    },
  }
}

/** The voice is part of the path, these parameters are in the query, and the others in the body. */
const QUERY = ['output_format', 'enable_logging', 'optimize_streaming_latency']

const requestOf = ({ operation, model, parameters }: UpstreamRequest) => {
  const { voice_id: voice, ...rest } = parameters
  const query = new URLSearchParams()
  const body: Record<string, unknown> = { model_id: model }
  for (const [name, value] of Object.entries(rest)) {
    if (QUERY.includes(name)) query.set(name, String(value))
    else body[name] = value
  }
  const search = query.size > 0 ? `?${query}` : ''
  return { path: pathOf(operation, voice) + search, body }
}

const pathOf = (operation: string, voice: unknown): string => {
  switch (operation) {
    // https://elevenlabs.io/docs/api-reference/text-to-speech/convert
    case 'text-to-speech':
      if (typeof voice !== 'string' || !/^\w{1,64}$/.test(voice)) throw new Error('the voice has no ElevenLabs ID')
      return `/v1/text-to-speech/${voice}`
    // https://elevenlabs.io/docs/api-reference/music/compose
    case 'music':
      return '/v1/music'
    default:
      throw new Error(`the adapter of ElevenLabs has no operation ${operation}`)
  }
}

const outcomeOf = (answer: VendorAnswer, contents: Contents, { parameters }: UpstreamRequest): Done | Failed => {
  const units = unitsIn(answer.headers)
  const work = units && { work: { units } }
  if (!isFile(answer))
    return { kind: 'failed', code: 'provider_error', message: 'The provider returned no sound.', ...work }
  const { output_format: format = 'mp3' } = parameters
  const [codec = ''] = String(format).split('_')
  return { kind: 'done', media: [{ mimeType: mimeTypes[codec] ?? 'application/octet-stream', ...contents }], ...work }
}

/** By the first part of `output_format`, such as `mp3_44100_128`. */
const mimeTypes: Record<string, string> = {
  auto: 'audio/mpeg',
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  ulaw: 'audio/basic',
}

/** Billed credits: https://elevenlabs.io/docs/api-reference/introduction */
const unitsIn = (headers: VendorAnswer['headers']): Record<string, number> | undefined => {
  const cost = headerOf(headers, 'character-cost')
  return cost !== undefined && /^\d+(\.\d+)?$/.test(cost) ? { 'character-cost': Number(cost) } : undefined
}
