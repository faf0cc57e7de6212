import { connect as connectTcp, isIP, type NetConnectOpts } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis } from 'ioredis'
import { Unavailable } from '../../ports/faults.ts'

export type RedisClient = Redis

/** How to reach a Redis server. */
export interface RedisAddress {
  host: string
  port: number
  db: number
  username?: string
  password?: string
  tls: boolean
}

export interface OpenedRedis {
  client: RedisClient
  /** The last error of the connection. */
  lastError(): string | undefined
}

interface RedisClientOptions {
  /** How long a command may take. */
  commandMs: number
  /** How long a command may stay unanswered before the connection counts as lost. */
  silenceMs?: number
}

const CONNECT_MS = 5_000
const MAX_RETRY_MS = 2_000

/** How long to wait for a hung server to close a connection. */
const HANG_UP_MS = 500

/** Creates a client that is not connected yet. */
export const openRedis = (
  { tls, ...address }: RedisAddress,
  { commandMs, silenceMs = 2 * commandMs }: RedisClientOptions,
): OpenedRedis => {
  const { host, port } = address
  // A proxy in front of several servers selects a server by this name.
  const secure = tls && { tls: isIP(host) ? {} : { servername: host } }
  const client = new Redis({
    ...address,
    ...secure,
    Connector: connectorTo({ host, port, ...secure }),
    lazyConnect: true,
    commandTimeout: commandMs,
    // Detects a server that has vanished without closing the connection.
    socketTimeout: silenceMs,
    connectTimeout: CONNECT_MS,
    retryStrategy: times => Math.min(100 * times, MAX_RETRY_MS),
    // Callers retry failed commands: nothing waits for a connection or for loading, and nothing is sent twice.
    enableOfflineQueue: false,
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // After a failover, the name resolves to another server.
    reconnectOnError: error => error.message.startsWith('READONLY'),
  })
  let lastError: string | undefined
  client.on('connect', () => {
    lastError = undefined
  })
  client.on('error', (error: NodeJS.ErrnoException & { command?: { name: string } }) => {
    lastError = error.message || error.code
    // The library would continue in another database.
    if (error.command?.name === 'select') client.disconnect(true)
  })
  return { client, lastError: () => lastError }
}

/**
 * The library handles only the first error of a socket. A failed TLS handshake emits two, and would crash the process.
 */
const connectorTo = ({ host, port, tls }: { host: string; port: number; tls?: object }) =>
  class extends AbstractConnector {
    constructor() {
      super(HANG_UP_MS)
    }

    async connect() {
      const to: NetConnectOpts = { host, port }
      this.stream = tls ? connectTls({ ...to, ...tls }) : connectTcp(to)
      return this.stream.on('error', error => {
        this.firstError = error
      })
    }
  }

/**
 * Maps temporary errors and connection errors to Unavailable. Drops the original error, because it contains the
 * command, which may hold a password or customer data.
 */
export const toRedisFault = (error: unknown, server: string, connectionError?: string): Error => {
  if (error instanceof TypeError || error instanceof RangeError) return error
  const { name, message } = error as Error
  if (name === 'ReplyError' && !NOT_NOW.test(message)) return new Error(`${server} rejected a command (${message})`)
  return new Unavailable(`${server} is not available (${connectionError ?? message})`, { part: 'views' })
}

/** The error code is the first word, or follows a dash in script errors of old servers. */
const NOT_NOW = new RegExp(
  `(?:^|-)(?:${[
    ...['LOADING', 'READONLY', 'OOM', 'MASTERDOWN', 'BUSY', 'MISCONF', 'NOREPLICAS', 'TRYAGAIN', 'CLUSTERDOWN'],
    ...['NOAUTH', 'WRONGPASS', 'NOPERM', 'MOVED', 'ASK', 'UNKILLABLE'],
    ...['WRONGTYPE', 'ERR The user executing the script'],
    ...['ERR max number of clients', 'ERR invalid password', 'ERR AUTH', 'ERR DB index', 'ERR invalid DB index'],
  ].join('|')})\\b`,
)
