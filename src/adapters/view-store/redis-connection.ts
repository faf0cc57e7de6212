import { connect as connectTcp, isIP, type NetConnectOpts } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis } from 'ioredis'
import { toRedisFault } from './redis-faults.ts'
import type { Script } from './redis-scripts.ts'

export interface RedisOptions {
  address: RedisAddress
  /** A prefix that separates these keys from others in the database. */
  keySpace?: string
  /** Called for problems that need an operator but do not stop the service. */
  onWarning: (warning: Error) => void
  /** The timeout of a write. */
  writeMs?: number
}

/** How to reach a Redis server. */
export interface RedisAddress {
  host: string
  port: number
  db: number
  username?: string
  password?: string
  tls: boolean
}

/**
 * Two connections to one server, so that no read waits behind a large write. Errors are mapped to those of the port.
 */
export interface RedisConnection {
  /** Host and port, for messages. */
  server: string
  read<Reply>(command: (client: Redis) => Promise<Reply>): Promise<Reply>
  /** Runs a read-only script. */
  list(script: Script, keys: string[], args: string[]): Promise<unknown>
  change<Reply>(command: (client: Redis) => Promise<Reply>): Promise<Reply>
  /** Runs a script that writes or reads a lot. */
  write(script: Script, keys: string[], args: string[]): Promise<unknown>
  close(): void
}

/** Short, so that a reader can still respond in time. */
const READ_MS = 900

const CONNECT_MS = 5_000
const MAX_RETRY_MS = 2_000

/** How long to wait for a hung server to close a connection. */
const HANG_UP_MS = 500

/** Resolves when Redis accepts commands. Reconnects from then on. Rejects with Unavailable. */
export const connectToRedis = async ({
  address,
  writeMs,
  onWarning,
}: Required<Omit<RedisOptions, 'keySpace'>>): Promise<RedisConnection> => {
  const server = `Redis at ${address.host}:${address.port}`
  const [reader, writer] = [open(address, READ_MS), open(address, writeMs)]

  const close = () => {
    reader.client.disconnect()
    writer.client.disconnect()
  }

  const send = async <Reply>({ client, lastError }: Opened, command: (client: Redis) => Promise<Reply>) => {
    try {
      return await command(client)
    } catch (error) {
      const isConnected = client.status === 'ready' && client.stream.writable
      throw toRedisFault(error, server, isConnected ? undefined : (lastError() ?? 'there is no connection'))
    }
  }

  const run = (opened: Opened, { text, sha }: Script, keys: string[], args: string[]) =>
    send(opened, client => {
      const rest = [String(keys.length), ...keys, ...args]
      // Redis forgets its scripts when it restarts.
      return client.call('EVALSHA', [sha, ...rest]).catch(error => {
        if (!error.message.startsWith('NOSCRIPT')) throw error
        return client.call('EVAL', [text, ...rest])
      })
    })

  try {
    await Promise.all([reader, writer].map(opened => send(opened, client => client.connect())))
    await send(reader, client => client.ping())
    await warnOfEviction(reader, server, onWarning)
  } catch (error) {
    close()
    throw error
  }

  return {
    server,
    read: command => send(reader, command),
    list: (script, keys, args) => run(reader, script, keys, args),
    change: command => send(writer, command),
    write: (script, keys, args) => run(writer, script, keys, args),
    close,
  }
}

interface Opened {
  client: Redis
  /** The last error of the connection. */
  lastError(): string | undefined
}

const open = ({ tls, ...address }: RedisAddress, commandTimeout: number): Opened => {
  const { host, port } = address
  // A proxy in front of several servers selects one by this name.
  const secure = tls && { tls: isIP(host) ? {} : { servername: host } }
  const client = new Redis({
    ...address,
    ...secure,
    Connector: connectorTo({ host, port, ...secure }),
    lazyConnect: true,
    commandTimeout,
    // Detects a server that has vanished without closing the connection.
    socketTimeout: 2 * commandTimeout,
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

/** Evicted rows would make the views silently wrong. */
const warnOfEviction = async ({ client }: Opened, server: string, onWarning: (warning: Error) => void) => {
  const memory = await client.info('memory').catch(() => '')
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? 'noeviction'
  if (policy !== 'noeviction')
    onWarning(new Error(`${server} may evict data (maxmemory-policy ${policy}); set it to noeviction`))
}
