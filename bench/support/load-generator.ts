import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'
import type { Load } from './load.ts'

/** The load generator: sends the result of one measurement to the parent process. */
const {
  url,
  connections,
  seconds,
  requests,
  method,
  keys = [],
  headers,
  body,
  file,
  awake = false,
} = JSON.parse(process.argv[2] as string) as Load & { seconds: number }
const stayAwake = () => setImmediate(stayAwake)
if (awake) stayAwake()

const common = { 'content-type': file?.type ?? 'application/json', ...headers }
const sent = file ? readFileSync(file.path) : body && JSON.stringify(body)

let next = 0
const result = await autocannon({
  url,
  connections,
  duration: seconds,
  ...(requests !== undefined && { amount: requests }),
  method,
  headers: common,
  ...(sent && { body: sent }),
  setupClient: client => {
    const key = keys[next++ % keys.length]
    if (key) client.setHeaders({ ...common, authorization: `Bearer ${key}` })
  },
})
const summary = {
  successes: result['2xx'],
  seconds: result.duration,
  failures: result.non2xx + result.errors + result.timeouts,
}
process.send?.(summary, () => process.exit(0))
