import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'
import { PROCESS_TIMEOUT_MS, TEST_TIMEOUT_MS } from './test-length.ts'

// Runs the given test files in this process.

// tap follows every promise to the test that made it, which takes a sixth of the time. The tests of a process run one by
// one, so that an error that nobody catches belongs to the one that runs.
hooks.createHook = () => ({ enable: () => undefined, disable: () => undefined }) as unknown as hooks.AsyncHook
syncBuiltinESMExports()
const { default: t } = await import('tap')
let running: { threw(error: unknown): void } = t
process.on('uncaughtException', error => running.threw(error))

// A test that hangs fails by its own name, and the next one runs. tap reports the limit of the process to the suite, which
// so waits anew with each test, and ends a process whose code never returns.
t.on('subtestStart', test => {
  running = test
  t.setTimeout(PROCESS_TIMEOUT_MS)
  test.setTimeout(TEST_TIMEOUT_MS)
})

// The tests wait until all files are loaded: a file may begin with a long await, and tap would end before it.
t.test('the files load', async () => {
  for (const file of process.argv.slice(2)) await import(pathToFileURL(file).href)
})
