import { type Static, Type } from 'typebox'
import { Kind, Mode, OutputType } from '../catalog.ts'
import { Closed, DEFAULT_PAGE, IDEMPOTENCY_HOURS, IDEMPOTENCY_KEY, JsonObject, MAX_PAGE } from '../primitives.ts'
import { about } from './about.ts'
import { ModelEndpoint, ModelFamily } from './model.ts'
import { ModelId, RunRequest, RunsQuery } from './run.ts'

const Id = Type.Union([Type.String(), Type.Number()])

/** A message of a client (https://www.jsonrpc.org/specification). What has no id is not answered. */
export const JsonRpcMessage = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Optional(Id),
  method: Type.Optional(Type.String({ description: 'None where the message answers one of the server.' })),
  params: Type.Optional(JsonObject),
})

export const JsonRpcResult = about(
  Type.Object({ jsonrpc: Type.Literal('2.0'), id: Id, result: JsonObject }),
  'That a tool refused is a result too, with `isError`.',
  {
    jsonrpc: '2.0',
    id: 1,
    result: {
      resultType: 'complete',
      structuredContent: { object: 'balance', credits_balance: 90 },
      content: [{ type: 'text', text: '{"object":"balance","credits_balance":90}' }],
    },
  },
)

/** The id is null where the message was not looked at. */
export const JsonRpcError = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Id, Type.Null()]),
  error: Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
})
export type JsonRpcError = Static<typeof JsonRpcError>

/** What a request is answered with. */
export const JsonRpcAnswer = Type.Union([JsonRpcResult, JsonRpcError])

/** The same as the last event of a stream, after those that tell how it goes. */
export const EventStream = Type.String()

/** Headers that clients send beside a message. */
export const messageHeaders = {
  'MCP-Protocol-Version': about(Type.String(), 'The revision that is spoken.', '2026-07-28'),
  'Mcp-Method': about(Type.String(), 'The method of the message; from 2026-07-28 on.', 'tools/call'),
  'Mcp-Name': about(Type.String(), 'The tool that is called; from 2026-07-28 on.', 'get_balance'),
  Origin: about(Type.String(), 'Sent by browsers. Sites that are not allowed are refused.', 'https://app.example.com'),
}

/** By 2025-11-25: it needs no other headers than any request. */
export const oldCallExample: Static<typeof JsonRpcMessage> = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'get_balance', arguments: {} },
}

/** By 2026-07-28, with the headers that go with it. */
export const callExample: Static<typeof JsonRpcMessage> = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'get_balance',
    arguments: {},
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'example', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}

// What the tools take, and answer where the API has no such answer.

export const NoArguments = Closed({})

export const RunArguments = Closed({
  run_id: about(Type.String(), 'The run_id, or the same id written as a UUID.', 'run_01m7z4hp40enbs019v3tcadvdx'),
})

export const RunModelArguments = Closed({
  ...RunRequest.properties,
  idempotency_key: Type.Optional(
    about(
      Type.String({ pattern: `^${IDEMPOTENCY_KEY}$` }),
      `1 to 255 visible ASCII characters. For ${IDEMPOTENCY_HOURS} hours the same key with the same request is the same run, here and as the Idempotency-Key of POST /v1/run.`,
      '4b1e8a52-6c0f-4d4e-9a0c-2f7d0c1b9e11',
    ),
  ),
})

export const ListRunsArguments = Closed({
  ...RunsQuery.properties,
  // In a query it is text.
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE })),
})

export const ListModelsArguments = Closed({
  model: Type.Optional(
    about(ModelId, 'One family, by its id or an alias: its parameters and prices are shown in full.'),
  ),
  output_type: Type.Optional(about(OutputType, 'Only families that make this.')),
  kind: Type.Optional(
    about(Kind, 'Only families that do this: t2i makes an image of a text, i2v a video of an image.'),
  ),
  mode: Type.Optional(about(Mode, 'Only families that are run so: sync takes seconds, async minutes.')),
  query: Type.Optional(
    about(Type.String({ maxLength: 100 }), 'Only families with this in their id, name, an alias or a description.'),
  ),
})
export type ListModelsArguments = Static<typeof ListModelsArguments>

const { parameters_schema, pricing, ...inShort } = ModelEndpoint.properties

/** A list of models whose endpoints may be told of in short. */
export const ModelsFound = Closed({
  object: Type.Literal('list'),
  data: Type.Array(
    Closed({
      ...ModelFamily.properties,
      endpoints: Type.Array(
        Closed({
          ...inShort,
          parameters_schema: Type.Optional(parameters_schema),
          pricing: Type.Optional(pricing),
        }),
      ),
    }),
  ),
})
