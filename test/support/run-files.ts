import hooks from 'node:async_hooks'
import { writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PROCESS_TIMEOUT_MS, TEST_TIMEOUT_MS } from './test-length.ts'

// Runs the given test files in this process, except those that another process with the same folder of claims has begun.

const [claims = '', ...files] = process.argv.slice(2)

const tests = join(import.meta.dirname, '..')

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

// What a file leaves open ends before the next one loads: each service that waits takes time of the processor.
const open: (() => unknown)[] = []
const closeAll = async () => {
  for (let close = open.pop(); close; close = open.pop()) await close()
}
t.teardown(closeAll)
t.teardown = close => {
  open.push(close)
}

const claim = (file: string): boolean => {
  try {
    writeFileSync(join(claims, relative(tests, file).replaceAll('/', '+')), '', { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

// A file loads when the tests of the file before it have run, since some begin with work that does not last. It loads in
// a test, since tap would end during a long await.
for (const file of files)
  if (claim(file))
    await t.test(`${relative(tests, file)} loads`, async () => {
      await closeAll()
      await import(pathToFileURL(file).href)
    })
