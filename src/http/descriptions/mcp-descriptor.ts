import { isIP } from 'node:net'
import type { McpDescriptor, ToolSummary } from '../../../schemas/api/descriptors.ts'
import { info } from './api-info.ts'

/** The supported protocol revisions, newest first. */
export const PROTOCOL_VERSIONS = ['2026-07-28', '2025-11-25']

const KEY = 'The API key that HTTP requests also use.'

interface ServerFacts {
  /** The name of the service. */
  title: string
  baseUrl: string
  tools: ToolSummary[]
}

/** The body of `/.well-known/mcp`. */
export const describeMcp = ({ title, baseUrl, tools }: ServerFacts): McpDescriptor => {
  const endpoint = `${baseUrl}/mcp`
  const authorization = {
    name: 'Authorization',
    description: KEY,
    isRequired: true,
    isSecret: true,
    value: 'Bearer {api_key}',
    variables: { api_key: { description: KEY, isRequired: true, isSecret: true } },
  }
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${namespaceOf(baseUrl)}/tollgate`,
    title,
    version: info.version,
    description: info.summary,
    websiteUrl: `${baseUrl}/docs`,
    remotes: [
      {
        type: 'streamable-http',
        url: endpoint,
        supportedProtocolVersions: PROTOCOL_VERSIONS,
        headers: [authorization],
      },
    ],
    transport: 'streamable-http',
    endpoint,
    authentication: { required: true, type: 'http', scheme: 'bearer', description: KEY },
    tools: tools.map(({ name, title, description }) => ({ name, title, description })),
  }
}

/** The reversed host, which begins a server name: `com.example.api` for `api.example.com`. IP addresses stay. */
const namespaceOf = (baseUrl: string): string => {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')
  const named = isIP(host) ? host : host.split('.').reverse().join('.')
  return named.replaceAll(/[^a-z0-9.-]/g, '-')
}
