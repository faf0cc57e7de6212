import type OpenAI from 'openai'
import { failed } from './answer.ts'
import type { Operation } from './client.ts'

/** https://platform.openai.com/docs/api-reference/audio/createSpeech */
export const speak: Operation = async (client, parameters, options) => {
  const body = parameters as unknown as OpenAI.Audio.SpeechCreateParams
  const response = await client.audio.speech.create(body, options)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const isFile = !/^(text\/|application\/json)/i.test(response.headers.get('content-type') ?? '')
  if (!isFile || bytes.byteLength === 0) return failed('provider_error', 'The provider returned no sound.')
  return { kind: 'done', media: [{ mimeType: mimeTypes[body.response_format ?? 'mp3'], bytes }] }
}

const mimeTypes: Record<NonNullable<OpenAI.Audio.SpeechCreateParams['response_format']>, string> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}
