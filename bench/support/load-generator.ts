import autocannon from 'autocannon'
import type { Load } from './load.ts'

/** The load generator: one measurement, told to the parent. */
const { url, connections, seconds, method, keys = [], body } = JSON.parse(process.argv[2] as string) as Load
// A sleeping core must be woken for each answer, which on a virtual machine costs the server more than the answer does.
// So this one never sleeps.
const poll = () => setImmediate(poll)
poll()

let next = 0
const result = await autocannon({
  url,
  connections,
  duration: seconds,
  method,
  headers: { 'content-type': 'application/json' },
  ...(body && { body: JSON.stringify(body) }),
  setupClient: client => {
    const key = keys[next++ % keys.length]
    if (key) client.setHeaders({ 'content-type': 'application/json', authorization: `Bearer ${key}` })
  },
})
const told = { answersPerSecond: result['2xx'] / result.duration, bad: result.non2xx + result.errors + result.timeouts }
process.send?.(told, () => process.exit(0))
