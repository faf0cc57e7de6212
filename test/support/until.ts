import { setTimeout as delay } from 'node:timers/promises'

/** Far longer than a busy machine needs for anything that a test awaits. */
const MAX_WAIT_MS = 60_000

const POLL_MS = 5

type Found<Value> = Exclude<Value, undefined | null | false | 0 | ''>

/**
 * Polls until `find` returns something truthy, and resolves to it. Rejects with what was awaited at the deadline, even
 * if `find` hangs.
 */
export const until = <Value>(
  what: string,
  find: () => Value | Promise<Value>,
  { pollMs = POLL_MS, maxWaitMs = MAX_WAIT_MS } = {},
): Promise<Found<Value>> => {
  let isOver = false
  const poll = async () => {
    while (!isOver) {
      const found = await find()
      if (found) return found as Found<Value>
      await delay(pollMs)
    }
    throw new Error('the deadline has passed')
  }
  return withDeadline(what, poll(), maxWaitMs).finally(() => {
    isOver = true
  })
}

/** The outcome of a promise, or a rejection with what was awaited. */
export const withDeadline = <Value>(what: string, promise: Promise<Value>, maxWaitMs = MAX_WAIT_MS): Promise<Value> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`waited ${maxWaitMs} ms in vain until ${what}`)), maxWaitMs)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
