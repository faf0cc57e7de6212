import { type OpenedRedis, openRedis, type RedisAddress, type RedisClient, toRedisFault } from '../redis/client.ts'
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

/** Two connections to a server, so that no read waits behind a large write. Errors become errors of the port. */
interface RedisConnection {
  /** Host and port, for messages. */
  server: string
  read<Reply>(command: (client: RedisClient) => Promise<Reply>): Promise<Reply>
  /** Runs a read-only script. */
  list(script: Script, keys: string[], args: string[]): Promise<unknown>
  change<Reply>(command: (client: RedisClient) => Promise<Reply>): Promise<Reply>
  /** Runs a script that writes or reads a lot. */
  write(script: Script, keys: string[], args: string[]): Promise<unknown>
  close(): void
}

/** Short, so that a reader can still respond in time. */
const READ_MS = 900

/** Resolves when Redis accepts commands. Reconnects from then on. Rejects with Unavailable. */
export const connectToRedis = async ({
  address,
  writeMs,
  onWarning,
}: Required<Omit<RedisOptions, 'keySpace'>>): Promise<RedisConnection> => {
  const server = `Redis at ${address.host}:${address.port}`
  const [reader, writer] = [READ_MS, writeMs].map(commandMs => openRedis(address, { commandMs })) as [
    OpenedRedis,
    OpenedRedis,
  ]

  const close = () => {
    reader.client.disconnect()
    writer.client.disconnect()
  }

  const send = async <Reply>({ client, lastError }: OpenedRedis, command: (client: RedisClient) => Promise<Reply>) => {
    try {
      return await command(client)
    } catch (error) {
      const isConnected = client.status === 'ready' && client.stream.writable
      throw toRedisFault(error, server, isConnected ? undefined : (lastError() ?? 'there is no connection'))
    }
  }

  const run = (opened: OpenedRedis, { text, sha }: Script, keys: string[], args: string[]) =>
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

/** Evicted rows would make the views silently wrong. */
const warnOfEviction = async ({ client }: OpenedRedis, server: string, onWarning: (warning: Error) => void) => {
  const memory = await client.info('memory').catch(() => '')
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? 'noeviction'
  if (policy !== 'noeviction')
    onWarning(new Error(`${server} may evict data (maxmemory-policy ${policy}); set it to noeviction`))
}
