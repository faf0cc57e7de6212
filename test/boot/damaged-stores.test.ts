import { mkdir, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { closeLmdb, openLmdb } from '../../src/adapters/lmdb.ts'
import { sha256 } from '../../src/domain/digest.ts'
import { Client } from '../support/client.ts'
import { runCommand } from '../support/command-runner.ts'
import { openAccounts, startService } from '../support/service.ts'
import { ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

// The tests start many processes, about one second each.
t.setTimeout(180_000)

const PAGE_BYTES = 4096

/** A folder with the stores of a service that had a customer, and the customer's key. */
const filled = async (t: Test): Promise<{ folder: string; apiKey: string }> => {
  const folder = await temporaryFolder(t)
  const customers = await openAccounts(folder, ...Array.from({ length: 20 }, () => ({ credits: 70 })))
  return { folder, apiKey: customers.at(-1)?.apiKey ?? '' }
}

/** Overwrites pages in the middle of a store. */
const zero = async (file: string, pages = Number.POSITIVE_INFINITY) => {
  const { size } = await stat(file)
  const length = Math.min(size - 12 * PAGE_BYTES, pages * PAGE_BYTES)
  const opened = await open(file, 'r+')
  await opened.write(Buffer.alloc(length), 0, length, 8 * PAGE_BYTES)
  await opened.close()
}

/** Writes a text into a database of a store. */
const overwrite = async (folder: string, database: string, key: number | string, text: string) => {
  const root = openLmdb(folder, { durable: true })
  await root.openDB<string, number | string>(database, { encoding: 'string' }).put(key, text)
  await closeLmdb(root)
}

/** Starts a service that must fail, and returns its error message. */
const failedStart = async (t: Test, folder: string, args: string[] = []): Promise<string> => {
  const service = new ServiceProcess(folder, {}, args)
  t.teardown(() => service.end('SIGKILL'))
  const { code, stdout, stderr } = await Promise.race([
    service.ended,
    service.listening().then(() => service.end('SIGKILL')),
  ])
  t.equal(code, 1)
  t.notMatch(stdout, 'listening')
  t.notMatch(stderr, /^ +at /m, 'shows no stack')
  return stderr
}

/** The messages of the warnings and errors in the log of a service. */
const troubles = (stdout: string): string[] =>
  stdout
    .split('\n')
    .filter(line => /^\{"level":[4-6]0/.test(line))
    .map(line => JSON.parse(line).msg)

t.test('a service rebuilds damaged views, says so in one line, and knows its customers', async t => {
  const { folder, apiKey } = await filled(t)
  await zero(join(folder, 'views/data.mdb'))
  const service = await startServiceProcess(t, folder)
  t.equal(await new Client(service.url, apiKey).balance(), 70)
  const { code, stdout } = await service.end('SIGTERM')
  t.equal(code, 0)
  t.same(troubles(stdout), ['the views are damaged; rebuilding them'])
})

t.test('a key whose row is no JSON gets 503, and works again once the views are rebuilt', async t => {
  const { folder, apiKey } = await filled(t)
  await overwrite(join(folder, 'views'), 'rows', `keys/${sha256(apiKey)}`, '{"half":')
  const client = (await startService(t, { folder })).client(apiKey)
  const { status, body } = await client.send('/v1/balance')
  t.match({ status, body }, { status: 503, body: { error: { code: 'unavailable' } } })
  await until('the views are rebuilt', async () => (await client.send('/v1/balance')).status === 200)
})

t.test('a command rebuilds damaged views', async t => {
  const { folder } = await filled(t)
  await zero(join(folder, 'views/data.mdb'))
  const { code, stdout, stderr } = await runCommand({ args: ['views', 'rebuild'], env: { DATA_DIR: folder } })
  t.equal(code, 0)
  t.match(stdout, /^The views were rebuilt\./)
  t.notMatch(stderr, /^ +at /m, 'shows no stack')
})

t.test('an entry of the log that cannot be read ends the start', async t => {
  for (const text of ['{"half":', '["account-1",0,"id"]'])
    await t.test(text, async t => {
      const { folder } = await filled(t)
      await overwrite(join(folder, 'log'), 'entries', 2, text)
      await rm(join(folder, 'views'), { recursive: true })
      const message = await failedStart(t, folder)
      t.match(message, `${join(folder, 'log/data.mdb')}: the entry with the key 2, which is position 2, cannot be read`)
      t.match(message, 'restore it from a backup')
    })
})

t.test('an entry of the log whose key is no position ends the start', async t => {
  const { folder } = await filled(t)
  await overwrite(
    join(folder, 'log'),
    'entries',
    'text',
    JSON.stringify(['account-1', 0, 'id', 'AccountOpened', {}, {}]),
  )
  t.match(await failedStart(t, folder), 'the entry with the key text, which is position text, cannot be read')
})

t.test('an event of the log that no version has written ends the start', async t => {
  const { folder } = await filled(t)
  const entry = ['account-1', 0, 'id', 'Account\u001b[2JOpened', {}, {}]
  await overwrite(join(folder, 'log'), 'entries', 2, JSON.stringify(entry))
  await rm(join(folder, 'views'), { recursive: true })
  const message = await failedStart(t, folder)
  t.match(message, /account-1 .* Account\\u001b\[2JOpened .* revision 0 \(position 2\)/)
  t.match(message, 'restore it from a backup')
})

t.test('pages of the log that are damaged end the start', async t => {
  const { folder } = await filled(t)
  await zero(join(folder, 'log/data.mdb'), 8)
  await rm(join(folder, 'views'), { recursive: true })
  const message = await failedStart(t, folder)
  t.match(message, `${join(folder, 'log/data.mdb')}: MDB_`)
  t.match(message, 'restore it from a backup')
})

t.test('a missing log beside views or objects is refused, and --new-log makes one', async t => {
  const { folder, apiKey } = await filled(t)
  await rm(join(folder, 'log'), { recursive: true })
  for (const rest of ['views', 'objects']) {
    const message = await failedStart(t, folder)
    t.match(message, `${join(folder, 'log')} holds no event log`)
    t.match(message, join(folder, rest))
    t.match(message, '--new-log')
    t.match(message, 'backup')
    await t.rejects(stat(join(folder, 'log')), { code: 'ENOENT' }, 'nothing is made where a backup belongs')
    const { code, stderr } = await runCommand({ args: ['accounts', 'list'], env: { DATA_DIR: folder } })
    t.equal(code, 1)
    t.match(stderr, '--new-log')
    if (rest === 'views') {
      await rm(join(folder, 'views'), { recursive: true })
      await mkdir(join(folder, 'objects', 'runs'), { recursive: true })
    }
  }
  const service = new ServiceProcess(folder, {}, ['--new-log'])
  t.teardown(() => service.end('SIGKILL'))
  const client = new Client(await service.listening(), apiKey)
  t.equal((await client.send('/v1/balance')).status, 401)
  await service.end('SIGTERM')
  const again = await startServiceProcess(t, folder)
  t.equal((await new Client(again.url).send('/healthz')).status, 200)
})
