import { Unavailable } from '../../ports/faults.ts'

/**
 * Maps temporary errors and those of the connection to Unavailable. Drops the original error, because it contains the
 * command, which may hold a password or customer data.
 */
export const toRedisFault = (error: unknown, server: string, connectionError?: string): Error => {
  if (error instanceof TypeError || error instanceof RangeError) return error
  const { name, message } = error as Error
  if (name === 'ReplyError' && !NOT_NOW.test(message)) return new Error(`${server} rejected a command (${message})`)
  return new Unavailable(`${server} is not available (${connectionError ?? message})`)
}

/** The error code is the first word, or follows a dash if an old server fails in a script. */
const NOT_NOW = new RegExp(
  `(?:^|-)(?:${[
    ...['LOADING', 'READONLY', 'OOM', 'MASTERDOWN', 'BUSY', 'MISCONF', 'NOREPLICAS', 'TRYAGAIN', 'CLUSTERDOWN'],
    ...['NOAUTH', 'WRONGPASS', 'NOPERM', 'MOVED', 'ASK', 'UNKILLABLE'],
    ...['WRONGTYPE', 'ERR The user executing the script'],
    ...['ERR max number of clients', 'ERR invalid password', 'ERR AUTH', 'ERR DB index', 'ERR invalid DB index'],
  ].join('|')})\\b`,
)
