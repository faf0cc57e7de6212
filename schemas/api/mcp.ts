import { type Static, Type } from 'typebox'
import { Kind, Mode, OutputType } from '../catalog.ts'
import { Closed, IDEMPOTENCY_HOURS, IDEMPOTENCY_KEY, JsonObject } from '../primitives.ts'
import { about, untold } from './about.ts'
import { ModelEndpoint, ModelFamily } from './model.ts'
import { ModelId, RunRequest } from './run.ts'

const Id = Type.Union([Type.String(), Type.Number()])

/** A message from a client (https://www.jsonrpc.org/specification). A message without an id gets no response. */
export const JsonRpcMessage = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Optional(Id),
  method: Type.Optional(Type.String({ description: 'Absent in a response to a message from the server.' })),
  params: Type.Optional(JsonObject),
})

export const JsonRpcResult = about(
  Type.Object({ jsonrpc: Type.Literal('2.0'), id: Id, result: JsonObject }),
  'A tool error is also a result, with `isError` set.',
  {
    jsonrpc: '2.0',
    id: 1,
    result: {
      resultType: 'complete',
      structuredContent: {
        ...{ object: 'balance', credits_balance: 90, credits_paid: 0, credits_free: 90, credits_held: 0 },
      },
      content: [{ type: 'text', text: 'The balance is 90 credits.' }],
      _meta: {
        'io.modelcontextprotocol/serverInfo': { name: 'tollgate', title: 'Tollgate', version: '0.2.0' },
      },
    },
  },
)

/** The id is null if the message was refused before it was read. */
export const JsonRpcError = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Id, Type.Null()]),
  error: Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
})
export type JsonRpcError = Static<typeof JsonRpcError>

/** The response to a request. */
export const JsonRpcAnswer = Type.Union([JsonRpcResult, JsonRpcError])

/** Progress notifications, followed by the response as the last event. */
export const EventStream = Type.String()

/** The headers that accompany a message. */
export const messageHeaders = {
  'MCP-Protocol-Version': about(Type.String(), 'The protocol revision in use.', '2026-07-28'),
  'Mcp-Method': about(Type.String(), 'The method of the message. Used since revision 2026-07-28.', 'tools/call'),
  'Mcp-Name': about(Type.String(), 'The name of the called tool. Used since revision 2026-07-28.', 'get_balance'),
  Origin: about(
    Type.String(),
    'Sent by browsers. Requests from sites that are not allowed are refused.',
    'https://app.example.com',
  ),
}

/** A call in revision 2025-11-25, which needs no extra headers. */
export const oldCallExample: Static<typeof JsonRpcMessage> = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'get_balance', arguments: {} },
}

/** A call in revision 2026-07-28, which also needs the MCP headers above. */
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

// The arguments of the tools, and the results that the HTTP API lacks.

export const NoArguments = about(Closed({}), 'This tool takes no arguments.')

export const RunArguments = Closed({
  run_id: about(Type.String(), 'The run_id, or the same ID written as a UUID.', 'run_01m7z4hp40enbs019v3tcadvdx'),
})

const { stream: _, ...runProperties } = RunRequest.properties

export const RunModelArguments = Closed({
  ...runProperties,
  idempotency_key: Type.Optional(
    about(
      Type.String({ pattern: `^${IDEMPOTENCY_KEY}$` }),
      [
        'A key of 1 to 255 visible ASCII characters.',
        `For ${IDEMPOTENCY_HOURS} hours, repeating a request with its key returns the first run.`,
        'This tool and POST /v1/run share the keys.',
      ].join(' '),
      '4b1e8a52-6c0f-4d4e-9a0c-2f7d0c1b9e11',
    ),
  ),
})

/** What does not change the price. run_model describes it, and a list of tools is in the context of every agent. */
const { metadata, label, budget, webhook_url, store, idempotency_key } = RunModelArguments.properties

export const QuoteRunArguments = Closed({
  ...RunModelArguments.properties,
  ...{ metadata: untold(metadata), label: untold(label), webhook_url: untold(webhook_url), store: untold(store) },
  ...{ budget: untold(budget), idempotency_key: untold(idempotency_key) },
})

export const ListModelsArguments = Closed({
  brief: Type.Optional(
    about(Type.Boolean({ default: false }), 'Omits parameters and prices, which make up most of the list.'),
  ),
  model: Type.Optional(about(ModelId, 'Only the family with this ID, alias or endpoint.')),
  output_type: Type.Optional(about(OutputType, 'Only families with this type of output.')),
  kind: Type.Optional(about(Kind, 'Only families that offer this kind: t2i is text to image, i2v is image to video.')),
  mode: Type.Optional(about(Mode, 'Only families with this mode: sync takes seconds, async takes minutes.')),
  query: Type.Optional(
    about(Type.String({ maxLength: 100 }), 'Only families with this text in their ID, name, aliases or descriptions.'),
  ),
})
export type ListModelsArguments = Static<typeof ListModelsArguments>

const { parameters_schema, pricing, ...inShort } = ModelEndpoint.properties

/** A list of models. A brief list omits the parameters and pricing of endpoints. */
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
