import { Readable } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'
import { delay } from '../../time/timers.ts'
import type { Context } from '../context.ts'

/** How often a waiting client gets a sign. Some proxies drop connections that are silent for half a minute. */
const SIGN_MS = 5_000

/**
 * Answers with JSON that takes long to make. White space precedes it meanwhile, as any reader of JSON accepts. What
 * fails before the first sign is an error, and what fails later breaks the connection.
 */
export const patientJson = async (ctx: Context, clock: Clock, made: Promise<object>): Promise<void> => {
  const soon = await within(clock, made).catch(error => {
    if (!ctx.res.destroyed) throw error
    // Its making ends when the client leaves, which is no error.
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

/** Undefined if it is not made until the next sign is due. */
const within = async (clock: Clock, made: Promise<object>): Promise<object | undefined> => {
  const stop = new AbortController()
  try {
    return await Promise.race([made, delay(clock, SIGN_MS, stop.signal).then(() => undefined)])
  } finally {
    stop.abort()
  }
}
