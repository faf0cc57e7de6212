import { Unavailable } from '../../ports/faults.ts'

/**
 * What the failure of a command means. Whatever says "not now", or comes from the connection, is Unavailable.
 * The original error is left behind: it carries what was sent, which may be a password or what belongs to a customer.
 */
export const toRedisFault = (error: unknown, server: string, lastTrouble?: string): Error => {
  if (error instanceof TypeError || error instanceof RangeError) return error
  const { name, message } = error as Error
  if (name === 'ReplyError' && !NOT_NOW.test(message)) return new Error(`${server} refuses a command (${message})`)
  return new Unavailable(`${server} is not available (${lastTrouble ?? message})`)
}

/** Redis names what is wrong in the first word, or, when it happens in a script and the server is old, further on behind a dash. */
const NOT_NOW = new RegExp(
  `(?:^|-)(?:${[
    ...['LOADING', 'READONLY', 'OOM', 'MASTERDOWN', 'BUSY', 'MISCONF', 'NOREPLICAS', 'TRYAGAIN', 'CLUSTERDOWN'],
    ...['NOAUTH', 'WRONGPASS', 'NOPERM', 'MOVED', 'ASK', 'UNKILLABLE'],
    ...['WRONGTYPE', 'ERR The user executing the script'],
    ...['ERR max number of clients', 'ERR invalid password', 'ERR AUTH', 'ERR DB index', 'ERR invalid DB index'],
  ].join('|')})\\b`,
)
