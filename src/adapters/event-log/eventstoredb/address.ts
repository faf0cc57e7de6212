/** How a server or cluster is reached, and what is ours there. */
export interface EventStoreAddress {
  /** The members to ask first, or the one name that leads to all of them. */
  seeds: Endpoint[]
  /** Whether that name is to be resolved to the addresses of all members. */
  discover: boolean
  /** The hosts, for messages. */
  server: string
  /** What the names of all our streams begin with there, so that several deployments can share a server. */
  streamPrefix: string
  /** The files are in PEM. Undefined where the connection is plain text. */
  tls: { caFile: string | undefined; certFile: string | undefined; keyFile: string | undefined } | undefined
  credentials: { user: string; password: string } | undefined
  /** What the server calls the connection in its logs. */
  connectionName: string | undefined
  /** How often a connection is checked from below while requests are open, and how long the server has to answer. */
  keepAlive: { intervalMs: number; timeoutMs: number }
}

export interface Endpoint {
  host: string
  port: number
  /** What the certificate there names, if it is not the host. */
  name?: string
}

export const showEndpoint = ({ host, port }: Endpoint): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
