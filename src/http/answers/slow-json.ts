import { Readable } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'
import { delay } from '../../time/timers.ts'
import type { Context } from '../context.ts'

/** How often a waiting client gets white space. Some proxies drop connections that are silent for half a minute. */
const SIGN_MS = 5_000

/**
 * Answers with JSON that takes long to make. Until then, the body is white space, which every JSON parser
 * accepts. A failure before the first white space is an error response, and a later one breaks the connection.
 */
export const slowJson = async (ctx: Context, clock: Clock, made: Promise<object>): Promise<void> => {
  const soon = await within(clock, made).catch(error => {
    if (!ctx.res.destroyed) throw error
    // The work ends when the client disconnects, which is no error.
    return {}
  })
  if (soon) {
    ctx.body = soon
    return
  }
  ctx.type = 'application/json'
  ctx.body = Readable.from(signs(clock, made), { objectMode: false })
}

async function* signs(clock: Clock, made: Promise<object>) {
  let ready: object | undefined
  while (!ready) {
    yield ' '
    ready = await within(clock, made)
  }
  yield JSON.stringify(ready)
}

/** Undefined if the JSON is not ready when the next white space is due. */
const within = async (clock: Clock, made: Promise<object>): Promise<object | undefined> => {
  const stop = new AbortController()
  try {
    return await Promise.race([made, delay(clock, SIGN_MS, stop.signal).then(() => undefined)])
  } finally {
    stop.abort()
  }
}
