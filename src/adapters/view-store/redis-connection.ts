import { connect as connectTcp, isIP, type NetConnectOpts } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis } from 'ioredis'
import { toRedisFault } from './redis-faults.ts'
import type { Script } from './redis-scripts.ts'

export interface RedisOptions {
  address: RedisAddress
  /** What tells these keys from others in the database. */
  keySpace?: string
  /** Rows of two versions stand side by side. The leases are the same for both. */
  version?: number
  /** Told of what does not stop the service, but must be looked after. */
  onWarning: (warning: Error) => void
  /** How long a write may take. */
  writeMs?: number
}

/** What an address of a Redis server says. */
export interface RedisAddress {
  host: string
  port: number
  db: number
  username?: string
  password?: string
  tls: boolean
}

/** Two connections to one server, so that no read waits behind a large write. All that fails does so as a fault of the port. */
export interface RedisConnection {
  /** The host and the port, for messages. */
  server: string
  read<Reply>(command: (client: Redis) => Promise<Reply>): Promise<Reply>
  /** Runs a script that only reads. */
  list(script: Script, keys: string[], args: string[]): Promise<unknown>
  change<Reply>(command: (client: Redis) => Promise<Reply>): Promise<Reply>
  /** Runs a script that writes, or reads much. */
  write(script: Script, keys: string[], args: string[]): Promise<unknown>
  close(): void
}

/** Whoever reads is told in time for an answer of his own. */
const READ_MS = 900

const CONNECT_MS = 5_000
const MAX_RETRY_MS = 2_000

/** How long a server that hangs may take to notice that a connection is closed. */
const HANG_UP_MS = 500

/** Resolves when Redis takes commands; from then on a connection that is lost is made anew. Rejects with Unavailable. */
export const connectToRedis = async ({
  address,
  writeMs,
  onWarning,
}: Required<Omit<RedisOptions, 'keySpace' | 'version'>>): Promise<RedisConnection> => {
  const server = `Redis at ${address.host}:${address.port}`
  const [reader, writer] = [open(address, READ_MS), open(address, writeMs)]

  const close = () => {
    reader.client.disconnect()
    writer.client.disconnect()
  }

  const ask = async <Reply>({ client, trouble }: Opened, command: (client: Redis) => Promise<Reply>) => {
    try {
      return await command(client)
    } catch (error) {
      const isConnected = client.status === 'ready' && client.stream.writable
      throw toRedisFault(error, server, isConnected ? undefined : (trouble() ?? 'there is no connection'))
    }
  }

  const run = (opened: Opened, { text, sha }: Script, keys: string[], args: string[]) =>
    ask(opened, client => {
      const rest = [String(keys.length), ...keys, ...args]
      // Redis forgets its scripts when it starts anew.
      return client.call('EVALSHA', [sha, ...rest]).catch(error => {
        if (!error.message.startsWith('NOSCRIPT')) throw error
        return client.call('EVAL', [text, ...rest])
      })
    })

  try {
    await Promise.all([reader, writer].map(opened => ask(opened, client => client.connect())))
    await ask(reader, client => client.ping())
    await warnOfEviction(reader, server, onWarning)
  } catch (error) {
    close()
    throw error
  }

  return {
    server,
    read: command => ask(reader, command),
    list: (script, keys, args) => run(reader, script, keys, args),
    change: command => ask(writer, command),
    write: (script, keys, args) => run(writer, script, keys, args),
    close,
  }
}

interface Opened {
  client: Redis
  /** What went wrong last with the connection. */
  trouble(): string | undefined
}

const open = ({ tls, ...address }: RedisAddress, commandTimeout: number): Opened => {
  const { host, port } = address
  // A server behind a front for many is found by the name that is asked for.
  const secure = tls && { tls: isIP(host) ? {} : { servername: host } }
  const client = new Redis({
    ...address,
    ...secure,
    Connector: connectorTo({ host, port, ...secure }),
    lazyConnect: true,
    commandTimeout,
    // A server that is gone without a word is noticed by what it does not answer.
    socketTimeout: 2 * commandTimeout,
    connectTimeout: CONNECT_MS,
    retryStrategy: times => Math.min(100 * times, MAX_RETRY_MS),
    // What fails is for the caller to try again: nothing waits for a connection, or for what is loading, and nothing is sent twice.
    enableOfflineQueue: false,
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // After a failover the name leads to another server.
    reconnectOnError: error => error.message.startsWith('READONLY'),
  })
  let trouble: string | undefined
  client.on('connect', () => {
    trouble = undefined
  })
  client.on('error', (error: NodeJS.ErrnoException & { command?: { name: string } }) => {
    trouble = error.message || error.code
    // The library would go on in another database.
    if (error.command?.name === 'select') client.disconnect(true)
  })
  return { client, trouble: () => trouble }
}

/** The library looks at the first error of a socket only, and TLS that fails has two: the second one would end the process. */
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

/** Views that lose a part of themselves are wrong, and nobody would notice. */
const warnOfEviction = async ({ client }: Opened, server: string, onWarning: (warning: Error) => void) => {
  const memory = await client.info('memory').catch(() => '')
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? 'noeviction'
  if (policy !== 'noeviction')
    onWarning(new Error(`${server} may drop what it holds (maxmemory-policy ${policy}); set it to noeviction`))
}
