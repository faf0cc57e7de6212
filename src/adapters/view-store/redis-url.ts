import { percentDecode } from '../percent-decode.ts'
import type { RedisAddress } from './redis-connection.ts'

const DEFAULT_PORT = 6379

const DATABASE = /^(?:\/(\d{0,9}))?$/

/** Reads `redis[s]://user:password@host:port/database`; a text says what is wrong with it, and nothing of its password. */
export const parseRedisUrl = (text: string): RedisAddress | string => {
  if (!URL.canParse(text))
    return 'must be an address that can be read, with what is special in a password percent-encoded'
  const url = new URL(text)
  // An address of IPv6 stands in brackets where a port may follow.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!host) return 'must have a host'
  const [username, password] = [percentDecode(url.username), percentDecode(url.password)]
  if (username === undefined || password === undefined)
    return 'must have a user and a password that are percent-encoded'
  const database = DATABASE.exec(url.pathname)
  if (!database) return 'must name the database by a number'
  // A password that is not encoded may end the address early, and would then lead to another server.
  if (url.search || url.hash) return 'must have nothing behind the database'
  return {
    host,
    port: Number(url.port || DEFAULT_PORT),
    db: Number(database[1] ?? 0),
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    tls: url.protocol === 'rediss:',
  }
}
