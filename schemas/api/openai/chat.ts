import { type Static, Type } from 'typebox'
import { ToolCall } from '../../conversation.ts'
import { Closed, JsonObject, OneOf, Slug } from '../../primitives.ts'
import { about } from '../about.ts'
import { RunId } from '../common.ts'
import { ModelId, OpenAiStore } from '../run.ts'

// https://platform.openai.com/docs/api-reference/chat

export const ChatMessage = Type.Object(
  {
    role: about(
      OneOf('system', 'developer', 'user', 'assistant', 'tool'),
      'Who speaks. `developer` is the same as `system`.',
      'user',
    ),
    content: Type.Optional(
      about(
        Type.Unsafe<unknown>({}),
        'What was said: a text, or a list of parts of the types `text` and, from users, `image_url`.',
        'Why is the sky blue?',
      ),
    ),
    tool_calls: Type.Optional(about(Type.Unsafe<unknown>({}), 'The tool calls in an earlier answer of the model.', [])),
    tool_call_id: Type.Optional(
      about(Type.Unsafe<unknown>({}), 'In a message of a tool: the ID of the call that it answers.', 'call_1'),
    ),
  },
  {
    additionalProperties: true,
    description: 'A message of the conversation. Further members, such as `name`, must be empty.',
  },
)
export type ChatMessage = Static<typeof ChatMessage> & Record<string, unknown>

const ofModel = (description: string) => `${description} Only for models that have this parameter.`

/** Other members are parameters of the model. */
export const ChatRequest = Type.Object(
  {
    model: ModelId,
    messages: about(Type.Array(ChatMessage, { minItems: 1 }), 'The conversation. The model answers its last message.'),
    max_completion_tokens: Type.Optional(
      about(Type.Integer(), 'The longest answer in tokens: `max_output_tokens` of the model.', 1024),
    ),
    max_tokens: Type.Optional(about(Type.Integer(), 'The older name of `max_completion_tokens`.', 1024)),
    temperature: Type.Optional(about(Type.Number(), ofModel('How varied the answers are.'), 0.7)),
    top_p: Type.Optional(about(Type.Number(), ofModel('Nucleus sampling.'), 0.9)),
    seed: Type.Optional(about(Type.Integer(), ofModel('The same seed and input give similar answers.'), 42)),
    reasoning_effort: Type.Optional(about(Type.String(), ofModel('How hard the model thinks.'), 'low')),
    verbosity: Type.Optional(about(Type.String(), ofModel('How wordy the answer is.'), 'low')),
    tools: Type.Optional(about(Type.Array(JsonObject), ofModel('The functions that the model may call.'), [])),
    tool_choice: Type.Optional(
      about(Type.Unsafe<unknown>({}), ofModel('Whether the model must call a function, and which.'), 'auto'),
    ),
    parallel_tool_calls: Type.Optional(
      about(Type.Boolean(), ofModel('Whether an answer may have several tool calls.'), false),
    ),
    response_format: Type.Optional(about(JsonObject, ofModel('The form of the answer.'), { type: 'json_object' })),
    stream: Type.Optional(about(Type.Boolean(), 'Streams the answer as server-sent events.', true)),
    stream_options: Type.Optional(
      about(
        Type.Object({ include_usage: Type.Optional(Type.Boolean()) }),
        'Only with `stream`: a last chunk with the usage.',
        { include_usage: true },
      ),
    ),
    metadata: Type.Optional(about(JsonObject, 'Stored with the run.', { order: '17' })),
    user: Type.Optional(about(Type.String(), 'Your name of the end user, stored in the metadata of the run.', 'u-17')),
    safety_identifier: Type.Optional(about(Type.String(), 'The newer name of `user`.', 'u-17')),
    store: OpenAiStore,
    prompt_cache_key: Type.Optional(about(Type.String(), 'Has no effect: providers cache on their own.', 'u-17')),
  },
  {
    additionalProperties: true,
    description: [
      'A chat in the form of OpenAI’s API. Every other member is a parameter of the model, as its `parameters_schema`',
      'has it; a parameter that the model lacks is refused, unless its value changes nothing, such as `n: 1`.',
    ].join(' '),
  },
)
export type ChatRequest = Omit<Static<typeof ChatRequest>, 'messages'> & { messages: ChatMessage[] }

const Tokens = (description: string, example: number) => about(Type.Integer({ minimum: 0 }), description, example)

/** The cost of a run in the `usage` of an answer. */
export const Cost = {
  credits: about(Type.Number(), 'What the run has cost, in credits.', 0.0132),
  run_id: RunId,
}

export const ChatCompletion = Closed({
  id: about(RunId, 'The ID of the run.'),
  object: Type.Literal('chat.completion'),
  created: about(Type.Integer(), 'When the run was accepted, in seconds since 1970.', 1795736149),
  model: about(Slug, 'The ID of the model family.', 'gpt-6-1-terra'),
  choices: Type.Array(
    Closed({
      index: Type.Literal(0),
      message: Closed({
        role: Type.Literal('assistant'),
        content: about(Type.Union([Type.String(), Type.Null()]), 'The answer; null if there are only tool calls.'),
        refusal: Type.Null(),
        tool_calls: Type.Optional(about(Type.Array(ToolCall), 'The functions that the model calls.')),
      }),
      finish_reason: about(OneOf('stop', 'length', 'tool_calls'), '`length` if the answer was cut off.'),
      logprobs: Type.Null(),
    }),
  ),
  usage: Closed({
    prompt_tokens: Tokens('The tokens of the input; 0 if the price of the model does not depend on tokens.', 46),
    completion_tokens: Tokens('The tokens of the answer, with those that the model only thought.', 212),
    total_tokens: Tokens('All tokens.', 258),
    prompt_tokens_details: Closed({ cached_tokens: Tokens('The input tokens that the provider had cached.', 0) }),
    completion_tokens_details: Closed({ reasoning_tokens: Tokens('The tokens that the model only thought.', 0) }),
    ...Cost,
  }),
})
export type ChatCompletion = Static<typeof ChatCompletion>
