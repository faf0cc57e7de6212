import { type Static, Type } from 'typebox'
import { JsonObject } from '../../primitives.ts'
import { about } from '../about.ts'
import { ModelId, OpenAiStore } from '../run.ts'

/** Other members are parameters of the model. */
export const SpeechRequest = Type.Object(
  {
    model: ModelId,
    input: about(Type.String(), 'The text to speak.', 'The ferry leaves in ten minutes.'),
    voice: Type.Optional(about(Type.String(), 'A voice of the model.', 'Rachel')),
    response_format: Type.Optional(
      about(Type.String(), 'The format of the file: `output_format` of the model.', 'mp3'),
    ),
    metadata: Type.Optional(about(JsonObject, 'Stored with the run.', { order: '17' })),
    store: OpenAiStore,
  },
  {
    additionalProperties: true,
    description: [
      'Speech in the form of OpenAI’s API. Every other member is a parameter of the model, as its `parameters_schema`',
      'has it; a parameter that the model lacks is refused, unless its value changes nothing, such as `speed: 1`.',
    ].join(' '),
  },
)
export type SpeechRequest = Static<typeof SpeechRequest>
