import { type CallToolResult, Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import { type Reply as Answer, Client } from '../support/client.ts'
import type { Customer } from '../support/service.ts'

/** The negotiation mode of the official client for each supported revision. */
export const modes = { '2025-11-25': 'legacy', '2026-07-28': { pin: '2026-07-28' } } as const
export type Revision = keyof typeof modes
export const revisions = ['2025-11-25', '2026-07-28'] as const

/** Connects the official client until the test ends. It lists the tools first, so it validates their results. */
export const connect = async (t: Test, { url, apiKey }: Customer, revision: Revision): Promise<McpClient> => {
  const client = new McpClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: modes[revision] } })
  const headers = { Authorization: `Bearer ${apiKey}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  t.teardown(() => client.close())
  await client.listTools()
  return client
}

/** The result of a tool: the body as in the API, text blocks after the summary, and links to files. */
export interface ToolResult<Body> {
  body: Body
  notes: string[]
  links: CallToolResult['content']
}

type Options = Parameters<McpClient['callTool']>[1]

/** Calls a tool that must succeed. */
export const call = async <Body>(
  client: McpClient,
  name: string,
  args: object = {},
  options?: Options,
): Promise<ToolResult<Body>> => {
  const result = await client.callTool({ name, arguments: { ...args } }, options)
  const [text, ...notes] = textsOf(result)
  if (result.isError || !text) throw new Error(`${name} answered ${text}`)
  if (text === JSON.stringify(result.structuredContent)) throw new Error(`${name} repeats its result as text`)
  return {
    body: result.structuredContent as Body,
    notes,
    links: result.content.filter(block => block.type === 'resource_link'),
  }
}

/** Calls a tool that must refuse, and returns the error. */
export const refusal = async (client: McpClient, name: string, args: object = {}): Promise<ErrorBody['error']> =>
  errorOf(await client.callTool({ name, arguments: { ...args } }))

/** The error of a result that must hold nothing else. */
export const errorOf = (result: CallToolResult): ErrorBody['error'] => {
  const [text, ...others] = textsOf(result)
  if (!result.isError || text === undefined || others.length > 0 || 'structuredContent' in result)
    throw new Error(`not a refusal: ${JSON.stringify(result)}`)
  return (JSON.parse(text) as ErrorBody).error
}

const textsOf = ({ content }: CallToolResult) => content.flatMap(block => (block.type === 'text' ? [block.text] : []))

/** A message with its HTTP headers. */
export interface Sent {
  headers: Record<string, string>
  message: Record<string, unknown>
}

/** A request as clients of a revision send it. */
export const request = (revision: Revision, method: string, params: Record<string, unknown> = {}): Sent => {
  const base = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
  if (revision === '2025-11-25')
    return {
      headers: { ...base, 'MCP-Protocol-Version': revision },
      message: { jsonrpc: '2.0', id: 1, method, params },
    }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...(params['_meta'] as object),
  }
  return {
    headers: {
      ...base,
      'MCP-Protocol-Version': revision,
      'Mcp-Method': method,
      ...(typeof params['name'] === 'string' && { 'Mcp-Name': params['name'] }),
    },
    message: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
  }
}

export interface Reply extends Answer {
  /** The JSON-RPC message of the answer, plain or as the last event of a stream; undefined if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on its contents.
  message: any
}

/** Sends any message, valid or not. A message that is not a string is sent as JSON. */
export const post = async (
  { url, apiKey }: { url: string; apiKey?: string },
  { headers, message }: Omit<Sent, 'message'> & { message: unknown },
): Promise<Reply> => {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const reply = await new Client(url, apiKey).send('/mcp', { method: 'POST', headers, body })
  return { ...reply, message: messageOf(reply.text) }
}

const messageOf = (text: string) => {
  const json = text.startsWith('{')
    ? text
    : text
        .match(/^data: (\{.*)$/gm)
        ?.at(-1)
        ?.slice('data: '.length)
  return json === undefined ? undefined : JSON.parse(json)
}
