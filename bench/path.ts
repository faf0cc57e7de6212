import { once } from 'node:events'
import { createServer } from 'node:http'
import { Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createLogger } from '../src/adapters/logger/pino.ts'
import { openCore } from '../src/boot/core.ts'
import { readConfig } from '../src/boot/read-config.ts'
import { startServer } from '../src/boot/server.ts'
import { withFolder } from './support/folder.ts'

// Prints how many of our files and functions one run with a webhook uses, from its request to the delivery, by V8's
// coverage. With --list, it also prints the files, each with the number of its functions.

/** The first runs load what is loaded late. */
const WARM_UP_RUNS = 5

/** For what follows the delivery: its event, its row, the next look at the queue. */
const SETTLING_MS = 300

const root = fileURLToPath(new URL('..', import.meta.url))
const { folder, discard } = await withFolder()
const environment = { DATA_DIR: folder, PORT: '0', ALLOW_PRIVATE_WEBHOOKS: 'true', MASTER_SECRET: 'x'.repeat(32) }
const core = await openCore(readConfig(environment), { logger: createLogger('silent') })
const server = await startServer(core)

let delivered = () => {}
const receiver = createServer((_, response) => {
  response.end()
  delivered()
})
await once(receiver.listen(0, '127.0.0.1'), 'listening')
const { port } = receiver.address() as AddressInfo

const opened = await core.services.accounts.open(
  { kind: 'operator', name: 'path' },
  { email: 'path@example.com', tester: false, welcomeMicros: 1_000_000_000, key: { name: 'path', scope: 'full' } },
)
if (!('value' in opened)) throw new Error('the account could not be opened')
await delay(SETTLING_MS)

const run = async () => {
  const done = new Promise<void>(resolve => {
    delivered = resolve
  })
  const response = await fetch(`${server.url}/v1/run`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${opened.value.apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      model: 'nano-banana-2',
      input: { prompt: 'a lake' },
      webhook_url: `http://127.0.0.1:${port}/`,
    }),
  })
  if (!response.ok) throw new Error(await response.text())
  await done
  await delay(SETTLING_MS)
}

for (let count = 0; count < WARM_UP_RUNS; count++) await run()
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await session.post('Profiler.takePreciseCoverage')
await run()
const { result } = await session.post('Profiler.takePreciseCoverage')

const files = result
  .filter(({ url }) => /\/dist\/programs\/(src|schemas|projections)\//.test(url))
  .map(({ url, functions }) => ({
    file: relative(root, fileURLToPath(url)).replace(/\.js$/, ''),
    functions: functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length,
  }))
  .filter(({ functions }) => functions > 0)
  .sort((one, other) => one.file.localeCompare(other.file))

if (process.argv.includes('--list')) for (const { file, functions } of files) console.log(`${file} ${functions}`)
const total = files.reduce((sum, { functions }) => sum + functions, 0)
console.log(`A run with a webhook uses ${files.length} files and ${total} functions.`)

session.disconnect()
receiver.close()
await server.stop()
await core.close()
await discard()
process.exit(0)
