import type { SpeechRequest } from '../../../../schemas/api/openai/speech.ts'
import type { RunRequest } from '../../../../schemas/api/run.ts'
import type { ParametersSchema } from '../../../../schemas/catalog.ts'
import { placeFault } from '../../../transports/moment.ts'
import type { ParameterNames } from './errors.ts'
import { metadataOf, type NeutralValues, passedThrough, storeOf, underOtherNames } from './pass-through.ts'

/** The run that speaks a text. Throws invalid_request with the place of what the model cannot do. */
export const speechRun = (
  { model, input, voice, response_format, metadata, ...given }: SpeechRequest & Record<string, unknown>,
  schema: ParametersSchema,
): RunRequest => {
  const { properties } = schema
  if (!Object.hasOwn(properties, 'text')) throw placeFault('model', 'must be a model of speech', 'body')
  const named = {
    text: input,
    ...(voice !== undefined && { [Object.hasOwn(properties, 'voice_id') ? 'voice_id' : 'voice']: voice }),
    ...(response_format !== undefined && { output_format: response_format }),
  }
  return {
    model,
    input: underOtherNames(named, passedThrough(given, schema, neutral), speechNames),
    ...storeOf(given),
    ...metadataOf({ ...(metadata && { metadata }) }),
  }
}

/** The names of OpenAI. */
export const speechNames: ParameterNames = { text: 'input', voice_id: 'voice', output_format: 'response_format' }

/** https://platform.openai.com/docs/api-reference/audio/createSpeech: the defaults. */
const neutral: NeutralValues = { speed: [1], store: [false], stream_format: ['audio'], instructions: [''] }
