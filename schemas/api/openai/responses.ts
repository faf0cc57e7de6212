import { type Static, Type } from 'typebox'
import { Closed, JsonObject, OneOf, Slug } from '../../primitives.ts'
import { about } from '../about.ts'
import { RunId } from '../common.ts'
import { ModelId, OpenAiStore } from '../run.ts'
import { ChatRequest, Cost } from './chat.ts'

// https://platform.openai.com/docs/api-reference/responses

const { temperature, top_p, parallel_tool_calls, stream, metadata, user, safety_identifier, prompt_cache_key } =
  ChatRequest.properties

const ToolChoice = Type.Unsafe<string | Record<string, unknown>>({ type: ['string', 'object'] })

/** Other members are parameters of the model. */
export const ResponseRequest = Type.Object(
  {
    model: ModelId,
    input: about(
      Type.Unsafe<string | unknown[]>({ type: ['string', 'array'], minItems: 1, items: {} }),
      [
        'What the user says, or the conversation: a list of items of the types `message`, `function_call` and',
        '`function_call_output`. Messages hold a text, or parts of the types `input_text`, `output_text` and',
        '`input_image`.',
      ].join(' '),
      'Why is the sky blue?',
    ),
    instructions: Type.Optional(about(Type.String(), 'A first message of the system.', 'Answer in one sentence.')),
    max_output_tokens: Type.Optional(about(Type.Integer(), 'The longest answer in tokens.', 1024)),
    reasoning: Type.Optional(about(JsonObject, '`effort`: the `reasoning_effort` of the model.', { effort: 'low' })),
    text: Type.Optional(
      about(JsonObject, '`format`: the form of the answer. `verbosity`: how wordy it is.', { verbosity: 'low' }),
    ),
    tools: Type.Optional(about(Type.Array(JsonObject), 'The functions that the model may call.', [])),
    tool_choice: Type.Optional(about(ToolChoice, 'Whether the model must call a function, and which.', 'auto')),
    store: OpenAiStore,
    ...{ temperature, top_p, parallel_tool_calls, stream, metadata, user, safety_identifier, prompt_cache_key },
    stream_options: Type.Optional(
      about(JsonObject, 'Only with `include_obfuscation: false`.', { include_obfuscation: false }),
    ),
  },
  {
    additionalProperties: true,
    description: [
      'A request for a response in the form of OpenAI’s API. Every other member is a parameter of the model, as its',
      '`parameters_schema` has it; a parameter that the model lacks is refused, unless its value changes nothing, such',
      'as `truncation: "disabled"`.',
    ].join(' '),
  },
)
export type ResponseRequest = Static<typeof ResponseRequest>

const Nullable = <Shape extends Parameters<typeof Type.Union>[0][number]>(shape: Shape) =>
  Type.Union([shape, Type.Null()])

const ItemStatus = OneOf('in_progress', 'completed', 'incomplete')

const Item = Type.Union([
  Closed({
    id: about(Type.String(), 'The ID of the item.', 'msg_01m7z4hp40enbs019v3tcadvdx'),
    type: Type.Literal('message'),
    status: ItemStatus,
    role: Type.Literal('assistant'),
    content: Type.Array(
      Closed({
        type: Type.Literal('output_text'),
        text: about(Type.String(), 'The answer.'),
        annotations: Type.Array(JsonObject, { maxItems: 0 }),
        logprobs: Type.Array(JsonObject, { maxItems: 0 }),
      }),
    ),
  }),
  Closed({
    id: about(Type.String(), 'The ID of the item.', 'fc_01m7z4hp40enbs019v3tcadvdx_0'),
    type: Type.Literal('function_call'),
    status: ItemStatus,
    call_id: about(Type.String(), 'The ID of the call, for the item with its result.', 'call_1'),
    name: about(Type.String(), 'The function.', 'read_tide'),
    arguments: about(Type.String(), 'The arguments as JSON.', '{"port":"Ostend"}'),
  }),
])
export type Item = Static<typeof Item>

const Tokens = (description: string, example: number) => about(Type.Integer({ minimum: 0 }), description, example)

export const ResponseAnswer = Closed({
  id: about(RunId, 'The ID of the run.'),
  object: Type.Literal('response'),
  created_at: about(Type.Integer(), 'When the run was accepted, in seconds since 1970.', 1795736149),
  status: about(
    OneOf('in_progress', 'completed', 'incomplete', 'failed'),
    '`incomplete` if the answer was cut off. Only events of a stream have `in_progress` and `failed`.',
  ),
  error: Nullable(Closed({ code: Type.String(), message: Type.String() })),
  incomplete_details: Nullable(Closed({ reason: Type.Literal('max_output_tokens') })),
  instructions: Nullable(Type.String()),
  max_output_tokens: Nullable(Type.Integer()),
  metadata: JsonObject,
  model: about(Slug, 'The ID of the model family.', 'gpt-6-1-terra'),
  output: Type.Array(Item),
  parallel_tool_calls: Type.Boolean(),
  temperature: Nullable(Type.Number()),
  tool_choice: ToolChoice,
  tools: Type.Array(JsonObject),
  top_p: Nullable(Type.Number()),
  usage: Nullable(
    Closed({
      input_tokens: Tokens('The tokens of the input; 0 if the price of the model does not depend on tokens.', 46),
      input_tokens_details: Closed({ cached_tokens: Tokens('The input tokens that the provider had cached.', 0) }),
      output_tokens: Tokens('The tokens of the answer, with those that the model only thought.', 212),
      output_tokens_details: Closed({ reasoning_tokens: Tokens('The tokens that the model only thought.', 0) }),
      total_tokens: Tokens('All tokens.', 258),
      ...Cost,
    }),
  ),
})
export type ResponseAnswer = Static<typeof ResponseAnswer>
