import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'

/** Requests an address again and again, and reports the longest response time since the last report, in milliseconds. */
const [url = '', reusesConnections] = process.argv.slice(2)

const PAUSE_MS = 2

/** Longer than any response may take. */
const TIMEOUT_MS = 150_000

const dispatcher = new Agent({
  ...{ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS },
  ...(reusesConnections === 'false' && { pipelining: 0 }),
})
let longestMs = 0
let sentAtMs = performance.now()

process.on('message', message => {
  if (message === 'stop') process.exit(0)
  // The request under way counts for as long as it has taken.
  process.send?.(Math.max(longestMs, performance.now() - sentAtMs))
  longestMs = 0
})
process.send?.('ready')

while (true) {
  sentAtMs = performance.now()
  const answer = await request(url, { dispatcher })
  await answer.body.dump()
  longestMs = Math.max(longestMs, performance.now() - sentAtMs)
  await delay(PAUSE_MS)
}
