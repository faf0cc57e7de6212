import { percentDecode } from '../percent-decode.ts'
import type { RedisAddress } from '../redis/client.ts'

const DEFAULT_PORT = 6379

const DATABASE = /^(?:\/(\d{0,9}))?$/

/**
 * Parses `redis[s]://user:password@host:port/database`. Returns a string for an invalid address: the error message,
 * which never contains the password.
 */
export const parseRedisUrl = (text: string): RedisAddress | string => {
  if (!URL.canParse(text)) return 'must be a valid URL, with special characters in the password percent-encoded'
  const url = new URL(text)
  // URLs put IPv6 addresses in brackets.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!host) return 'must have a host'
  const [username, password] = [percentDecode(url.username), percentDecode(url.password)]
  if (username === undefined || password === undefined) return 'must have a percent-encoded user and password'
  const database = DATABASE.exec(url.pathname)
  if (!database) return 'must give the database as a number'
  // An unencoded password can truncate the URL, so that it names another server.
  if (url.search || url.hash) return 'must end with the database'
  return {
    host,
    port: Number(url.port || DEFAULT_PORT),
    db: Number(database[1] ?? 0),
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    tls: url.protocol === 'rediss:',
  }
}
