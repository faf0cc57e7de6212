/** How to reach a server or cluster, and the prefix of stream names. */
export interface EventStoreAddress {
  /** The members to contact first, or one DNS name for all of them. */
  seeds: Endpoint[]
  /** Whether the seed is a name that resolves to the addresses of all members. */
  discover: boolean
  /** The hosts, for messages. */
  server: string
  /** The prefix of all stream names, so that deployments can share a server. */
  streamPrefix: string
  /** The files are in PEM. Undefined for a plain-text connection. */
  tls: { caFile: string | undefined; certFile: string | undefined; keyFile: string | undefined } | undefined
  credentials: { user: string; password: string } | undefined
  /** The name of the connection in the server's logs. */
  connectionName: string | undefined
  /** HTTP/2 keep-alive: how often to ping, and how long to wait for the reply. */
  keepAlive: { intervalMs: number; timeoutMs: number }
}

export interface Endpoint {
  host: string
  port: number
  /** The expected name in the certificate, if it is not `host`. */
  name?: string
}

export const showEndpoint = ({ host, port }: Endpoint): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
