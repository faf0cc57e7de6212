import { type CallToolResult, Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import { type Reply as Answer, Client } from '../support/client.ts'
import type { Customer } from '../support/service.ts'

/** How the official client is told of each revision that is served. */
export const modes = { '2025-11-25': 'legacy', '2026-07-28': { pin: '2026-07-28' } } as const
export type Revision = keyof typeof modes
export const revisions = ['2025-11-25', '2026-07-28'] as const

/** Connects the official client until the test ends. It has seen the tools, so that it checks their results. */
export const connect = async (t: Test, { url, apiKey }: Customer, revision: Revision): Promise<McpClient> => {
  const client = new McpClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: modes[revision] } })
  const headers = { Authorization: `Bearer ${apiKey}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  t.teardown(() => client.close())
  await client.listTools()
  return client
}

/** What a tool answers: the body of the API, what else is said, and the files. */
export interface Answered<Body> {
  body: Body
  notes: string[]
  links: CallToolResult['content']
}

type Options = Parameters<McpClient['callTool']>[1]

/** Calls a tool that is to grant what it is asked for. */
export const call = async <Body>(
  client: McpClient,
  name: string,
  args: object = {},
  options?: Options,
): Promise<Answered<Body>> => {
  const result = await client.callTool({ name, arguments: { ...args } }, options)
  const [text, ...notes] = textsOf(result)
  if (result.isError || JSON.stringify(result.structuredContent) !== text) throw new Error(`${name} answered ${text}`)
  return {
    body: result.structuredContent as Body,
    notes,
    links: result.content.filter(block => block.type === 'resource_link'),
  }
}

/** Calls a tool that is to refuse, and tells how. */
export const refusal = async (client: McpClient, name: string, args: object = {}): Promise<ErrorBody['error']> =>
  errorOf(await client.callTool({ name, arguments: { ...args } }))

/** The error of a result, which is all that it holds. */
export const errorOf = (result: CallToolResult): ErrorBody['error'] => {
  const [text, ...others] = textsOf(result)
  if (!result.isError || text === undefined || others.length > 0 || 'structuredContent' in result)
    throw new Error(`no refusal: ${JSON.stringify(result)}`)
  return (JSON.parse(text) as ErrorBody).error
}

const textsOf = ({ content }: CallToolResult) => content.flatMap(block => (block.type === 'text' ? [block.text] : []))

/** A message with the headers beside it. */
export interface Sent {
  headers: Record<string, string>
  message: Record<string, unknown>
}

/** What clients of a revision send. */
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
  /** The one message that was answered with, by itself or as the last event of a stream; undefined where there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: it is looked into by tests that expect something of it.
  message: any
}

/** Sends what no client need send. A body that is no text is sent as JSON. */
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
