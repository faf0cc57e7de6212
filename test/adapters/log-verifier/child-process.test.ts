import { readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { openLogVerifier } from '../../../src/adapters/log-verifier/child-process.ts'
import { openAccount, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until, withDeadline } from '../../support/until.ts'

const never = new AbortController().signal

/** A verifier whose program is a script. The script leaves the id of its process. */
const verifierOf = async (t: Test, script: string, options: { maxMs?: number } = {}) => {
  const folder = await temporaryFolder(t)
  const program = join(folder, 'program.mjs')
  const pidFile = join(folder, 'pid')
  const leaveId = `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(pidFile)}, String(process.pid))`
  await writeFile(program, `${leaveId}\n${script}`)
  const verifier = openLogVerifier({ program, eventStore: {}, ...options })
  t.teardown(() => verifier.close())
  const pid = () => until('the program runs', async () => Number(await readFile(pidFile, 'utf8').catch(() => '')))
  return { verifier, pid }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const SILENT = `process.on('message', () => undefined)`
const DEAF = `${SILENT}; process.on('disconnect', () => undefined); setInterval(() => undefined, 1000)`

for (const [name, script] of Object.entries({ 'a program that waits': SILENT, 'a program that does not listen': DEAF }))
  t.test(`${name} is gone once an aborted verification has ended`, async t => {
    const { verifier, pid } = await verifierOf(t, script)
    const abort = new AbortController()
    const verification = verifier.verify(undefined, abort.signal)
    const id = await pid()
    abort.abort(new Error('the client left'))
    await t.rejects(withDeadline('it ends', verification), { message: 'the client left' })
    t.notOk(isRunning(id))
  })

t.test('a verification that takes too long is ended', async t => {
  const { verifier } = await verifierOf(t, SILENT, { maxMs: 1 })
  await t.rejects(verifier.verify(undefined, never), { name: 'Unavailable', message: /took more than 1 ms/ })
})

t.test('closing ends all work', async t => {
  const { verifier, pid } = await verifierOf(t, SILENT)
  const verification = verifier.verify(undefined, never).catch(error => error)
  const id = await pid()
  await verifier.close()
  t.notOk(isRunning(id))
  t.match(await verification, { name: 'Unavailable' })
  await verifier.close()
})

t.test('a program that ends, fails or cannot be started is unavailable', async t => {
  const ending = await verifierOf(t, 'process.exit(3)')
  await t.rejects(ending.verifier.verify(undefined, never), { name: 'Unavailable', message: /ended with 3/ })
  const failing = await verifierOf(t, `process.once('message', () => process.send({ failure: 'no log' }))`)
  await t.rejects(failing.verifier.verify(undefined, never), { name: 'Unavailable', message: /no log/ })
  const missing = openLogVerifier({ program: '/does/not/exist.mjs', eventStore: {} })
  await t.rejects(missing.verify(undefined, never), { name: 'Unavailable' })
})

t.test('nothing is started for a client that has left', async t => {
  const { verifier } = await verifierOf(t, SILENT)
  await t.rejects(verifier.verify(undefined, AbortSignal.abort(new Error('left'))), { message: 'left' })
})

t.test('the program of the service verifies a log, or an account of it, while the service writes', async t => {
  const service = await startService(t)
  const { accountId } = await openAccount(service)
  // Like this file, it is compiled or not.
  const script = `../../../src/boot/verify-process${extname(import.meta.url)}`
  const program = fileURLToPath(new URL(script, import.meta.url))
  const verifier = openLogVerifier({ program, eventStore: service.core.config.eventStore })
  t.teardown(() => verifier.close())
  t.match(await verifier.verify(undefined, never), {
    valid: true,
    account_id: null,
    position: await service.core.log.head(),
  })
  t.match(await verifier.verify(accountId, never), { valid: true, account_id: accountId })
  const unknown = 'acct_01h455vb4pex5vsknk084sn02q'
  await t.rejects(verifier.verify(unknown, never), { name: 'Unavailable', message: /no such account/ })
})
