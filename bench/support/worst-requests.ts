import { MAX_BODY_BYTES } from '../../schemas/primitives.ts'

/** A request that costs a server as much as a client can make it cost. */
export interface WorstRequest {
  name: string
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

/** JSON texts of about this many bytes, each expensive in its own way. */
const shapes: Record<string, (bytes: number) => string> = {
  names: bytes => `{${repeated(bytes, index => `"k${index}":0`)}}`,
  numbers: bytes => `[${repeated(bytes, () => '0')}]`,
  objects: bytes => `[${repeated(bytes, () => '{}')}]`,
  'nested arrays': bytes => `[${repeated(bytes, () => `${'['.repeat(20)}${']'.repeat(20)}`)}]`,
  'objects with names': bytes => `[${repeated(bytes, index => `{"k${index}":{"a":null}}`)}]`,
  text: bytes => `"${'x'.repeat(bytes - 2)}"`,
  escapes: bytes => `"${'\\u0001'.repeat(bytes / 6)}"`,
  emoji: bytes => `"${'😀'.repeat(bytes / 4)}"`,
  digits: bytes => `0.${'7'.repeat(bytes - 2)}`,
}

/** As many items as fit, separated by commas. */
const repeated = (bytes: number, item: (index: number) => string): string => {
  const items: string[] = []
  for (let size = 0; size < bytes; size += (items.at(-1)?.length ?? 0) + 1) items.push(item(items.length))
  return items.slice(0, -1).join(',')
}

/** The places of a value in the bodies of each route. */
const places: Record<string, (value: string) => Omit<WorstRequest, 'name' | 'method'>> = {
  'run: body': value => run(value),
  'run: input': value => run(`{"model":"sandbox","input":${value}}`),
  'run: prompt': value => run(`{"model":"sandbox","input":{"prompt":${value}}}`),
  'run: unknown parameter': value => run(`{"model":"sandbox","input":{"prompt":"a","x":${value}}}`),
  'run: model': value => run(`{"model":${value},"input":{"prompt":"a"}}`),
  'run: metadata': value => run(`{"model":"sandbox","input":{"prompt":"a"},"metadata":{"x":${value}}}`),
  'run: webhook_url': value => run(`{"model":"sandbox","input":{"prompt":"a"},"webhook_url":${value}}`),
  'presign: filename': value => presign(`{"filename":${value},"mime_type":"image/png"}`),
  'presign: folder_path': value => presign(`{"filename":"a.png","mime_type":"image/png","folder_path":${value}}`),
  'MCP: body': value => mcp(value),
  'MCP: id': value => mcp(`{"jsonrpc":"2.0","id":${value},"method":"tools/list"}`),
  'MCP: method': value => mcp(`{"jsonrpc":"2.0","id":1,"method":${value}}`),
  'MCP: _meta': value => mcp(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"x":${value}}}}`),
  'MCP: initialize': value =>
    mcp(
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"x":${value}}},"clientInfo":{"name":"a","version":"1"}}}`,
    ),
  'MCP: arguments': value => mcp(toolCall(`{"x":${value}}`)),
  'MCP: input': value => mcp(toolCall(`{"model":"sandbox","input":{"prompt":"a","x":${value}}}`)),
}

const json = { 'content-type': 'application/json' }
const run = (body: string) => ({ path: '/v1/run', headers: { ...json, 'idempotency-key': 'stall' }, body })
const presign = (body: string) => ({ path: '/v1/uploads/presigned', headers: json, body })
const mcp = (body: string) => ({ path: '/mcp', headers: { ...json, accept: 'application/json' }, body })
const toolCall = (args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_model","arguments":${args}}}`

/** Room for the rest of the body. */
const REST_BYTES = 400
/** Just under each limit of bytes. */
const SIZES = [MAX_BODY_BYTES, 320 * 1024, 256 * 1024, 16 * 1024].map(bytes => bytes - REST_BYTES)

const bodies: WorstRequest[] = Object.entries(places).flatMap(([place, at]) =>
  Object.entries(shapes).flatMap(([shape, of]) =>
    SIZES.map(bytes => ({
      name: `${place} of ${Math.ceil(bytes / 1024)} KB of ${shape}`,
      method: 'POST' as const,
      ...at(of(bytes)),
    })),
  ),
)

/** Node.js accepts 16 KB of headers, the request line included. */
const LINE_BYTES = 14_000

const lines: WorstRequest[] = [
  '/v1/runs',
  '/v1/ledger',
  '/v1/models',
  '/v1/uploads',
  '/v1/balance',
  '/cdn/x.png',
].flatMap(path =>
  Object.entries({
    'one parameter again': 'limit=1&'.repeat(LINE_BYTES / 8),
    'many parameters': repeated(LINE_BYTES, index => `p${index}=1`).replaceAll(',', '&'),
    'empty parameters': '&'.repeat(LINE_BYTES),
    'escaped text': `cursor=${'%41'.repeat(LINE_BYTES / 3)}`,
  }).map(([name, query]) => ({ name: `GET ${path}, ${name}`, method: 'GET' as const, path: `${path}?${query}` })),
)

export const worstRequests: WorstRequest[] = [...bodies, ...lines]
