import { randomBytes } from 'node:crypto'
import { cp, mkdir, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { closeLmdb, type Database, openLmdb } from '../../src/adapters/lmdb/environment.ts'
import { sha256 } from '../../src/domain/digest.ts'
import { caughtUp } from '../support/caught-up.ts'
import { Client } from '../support/client.ts'
import { runCommand } from '../support/command-runner.ts'
import { silentLogger } from '../support/engine.ts'
import { openAccounts, startService } from '../support/service.ts'
import { ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

// The tests start many processes, about one second each.
t.setTimeout(180_000)

const PAGE_BYTES = 4096

/** The stores of a service that had customers. Each test damages a copy. */
const sound = await temporaryFolder(t)
const customers = await openAccounts(sound, ...Array.from({ length: 20 }, () => ({ credits: 70 })))
const apiKeys = customers.map(({ apiKey }) => apiKey)
const apiKey = apiKeys.at(-1) ?? ''

const copied = async (t: Test): Promise<string> => {
  const folder = await temporaryFolder(t)
  await cp(sound, folder, { recursive: true })
  return folder
}

/** Overwrites pages in the middle of a store. */
const zero = async (file: string, pages = Number.POSITIVE_INFINITY) => {
  const { size } = await stat(file)
  const length = Math.min(size - 12 * PAGE_BYTES, pages * PAGE_BYTES)
  await overwriteBytes(file, Buffer.alloc(length), 8 * PAGE_BYTES)
}

const overwriteBytes = async (file: string, bytes: Buffer, position: number) => {
  const opened = await open(file, 'r+')
  await opened.write(bytes, 0, bytes.length, position)
  await opened.close()
}

type Texts = Database<string, number | string>

/** Changes a database of a store. */
const change = async (folder: string, name: string, change: (database: Texts) => unknown) => {
  const root = openLmdb(folder, { durable: true })
  await change(root.openDB<string, number | string>(name, { encoding: 'string' }))
  await closeLmdb(root)
}

/** Writes a text into a database of a store. */
const overwrite = (folder: string, name: string, key: number | string, text: string) =>
  change(folder, name, database => database.put(key, text))

/** A change of what the checkpoint of views says. */
const checkpoint = (facts: object) => (meta: Texts) =>
  meta.put('checkpoint', JSON.stringify({ ...JSON.parse(meta.get('checkpoint') ?? ''), ...facts }))

/** Deletes all that begins alike in a database. */
const deleteAll = (prefix: string) => async (database: Texts) => {
  for (const key of [...database.getKeys({ start: prefix, end: `${prefix}\uffff` })]) await database.remove(key)
}

const ANOTHER_ID = '00000000-0000-4000-8000-000000000000'

/** Ways to damage views that only the whole of them shows, by the database that each of them changes. */
const damages: Record<string, [name: string, damage: (database: Texts) => unknown]> = {
  'a checkpoint that is no JSON': ['meta', meta => meta.put('checkpoint', '{"half":')],
  'a checkpoint that is not in the log': ['meta', checkpoint({ position: 1_000_000 })],
  'a checkpoint of another event': ['meta', checkpoint({ eventId: ANOTHER_ID })],
  'a checkpoint of another origin': ['meta', checkpoint({ origin: ANOTHER_ID })],
  'a checkpoint without names': ['meta', checkpoint({ eventId: undefined, origin: undefined })],
  'no checkpoint': ['meta', meta => meta.remove('checkpoint')],
  'no row of a key': ['rows', deleteAll('keys/')],
  'no entry in an index of keys': ['index', deleteAll('keys.byAccount/')],
  'a row too many': ['rows', rows => rows.put('keys/none', '{}')],
}

/** What a process says that cannot open its stores. A command opens them like the service. */
const failedStart = async (t: Test, folder: string): Promise<string> => {
  const { code, stdout, stderr } = await runCommand({ args: ['accounts', 'list'], env: { DATA_DIR: folder } })
  t.same({ code, stdout }, { code: 1, stdout: '' })
  t.notMatch(stderr, /^ +at /m, 'shows no stack')
  return stderr
}

/** The messages of the warnings and errors in the log of a service. */
const warningsIn = (stdout: string): string[] =>
  stdout
    .split('\n')
    .filter(line => /^\{"level":[4-6]0/.test(line))
    .map(line => JSON.parse(line).msg)

t.test('a service rebuilds damaged views, says so in one line, and knows its customers', async t => {
  const folder = await copied(t)
  await zero(join(folder, 'views/data.mdb'))
  const warnings: string[] = []
  const keep = (_: object, text: string) => void warnings.push(text)
  const service = await startService(t, { folder, logger: { ...silentLogger, warn: keep, error: keep } })
  t.equal(await service.client(apiKey).balance(), 70)
  t.same(warnings, ['the views are damaged; rebuilding them'])
})

t.test('a key whose row is no JSON gets 503, and works again once the views are rebuilt', async t => {
  const folder = await copied(t)
  await overwrite(join(folder, 'views'), 'rows', `keys/${sha256(apiKey)}`, '{"half":')
  const client = (await startService(t, { folder })).client(apiKey)
  const { status, body } = await client.send('/v1/balance')
  t.match({ status, body }, { status: 503, body: { error: { code: 'unavailable' } } })
  await until('the views are rebuilt', async () => (await client.send('/v1/balance')).status === 200)
})

/** Asserts that keys which the service has not seen yet work in the end, and that nobody is refused meanwhile. */
const expectRebuilt = async (t: Test, url: string, apiKeys: string[]) => {
  const refused: unknown[] = []
  for (const apiKey of apiKeys)
    await until('the views are rebuilt', async () => {
      const ready = await new Client(url).send('/readyz')
      const { status, text } = await new Client(url, apiKey).send('/v1/key')
      if (status !== 200 && status !== 503) refused.push([status, text])
      return ready.status === 200 && status === 200
    })
  t.same(refused, [])
}

for (const [name, [database, damage]] of Object.entries(damages))
  t.test(`a service rebuilds views with ${name}, running or not, and says so in one line`, async t => {
    const folder = await copied(t)
    await change(join(folder, 'views'), database, damage)
    const warnings: string[] = []
    const keep = (_: object, text: string) => void (/views|projector/.test(text) && warnings.push(text))
    const service = await startService(t, { folder, logger: { ...silentLogger, warn: keep, error: keep } })
    await expectRebuilt(t, service.url, apiKeys.slice(0, 2))
    t.same(warnings.splice(0), ['the views do not fit the log; rebuilding them'], 'at the start')

    await change(join(folder, 'views'), database, damage)
    await service.core.services.accounts.invite({ kind: 'operator', name: 'test' }, 'ada@example.com')
    await until('the damage is found', () => warnings.length > 0)
    await expectRebuilt(t, service.url, apiKeys.slice(2, 4))
    t.same(warnings, ['the views do not fit the log; rebuilding them'], 'while it runs')
    t.same(await service.core.services.views.verify({ kind: 'operator', name: 'test' }), { value: [] })
  })

const whileOpen: Record<string, (file: string) => Promise<unknown>> = {
  truncated: file => truncate(file, 3 * PAGE_BYTES),
  'without its first pages': file => overwriteBytes(file, Buffer.alloc(8 * PAGE_BYTES), 0),
}

// A mapped file that ends early ends the process with a signal, which nothing can catch.
for (const [name, damage] of Object.entries(whileOpen).slice(0, isLong ? undefined : 1))
  t.test(`the start after a kill rebuilds a file of views that was ${name} while a service had it open`, async t => {
    const folder = await copied(t)
    const service = await startServiceProcess(t, folder)
    await damage(join(folder, 'views/data.mdb'))
    const client = new Client(service.url, apiKey)
    await client.send('/v1/runs').catch(() => undefined)
    await client.run({ model: 'nano-banana-2', input: { prompt: 'a pear' } }).catch(() => undefined)
    await service.end('SIGKILL')
    const next = await startServiceProcess(t, folder)
    t.equal((await new Client(next.url, apiKey).send('/v1/key')).status, 200)
    const { code, stdout } = await next.end('SIGTERM')
    t.equal(code, 0)
    t.match(warningsIn(stdout)[0], /^the views (are damaged|do not fit the log); rebuilding them$/)
  })

/** Ways to damage single rows, which their MACs show when they are read. Each gives a new text to a row of a key. */
const forgeries: Record<string, (text: string, another: string) => string> = {
  'with a garbled byte': text => text.replace('"name":"t', '"name":"u'),
  'of other accounts': (_, another) => another,
  'that are no objects': () => '5',
}

for (const [name, forge] of Object.entries(forgeries))
  t.test(`rows of keys ${name} refuse nobody`, async t => {
    const folder = await copied(t)
    await change(join(folder, 'views'), 'rows', async rows => {
      const found = [...rows.getRange({ start: 'keys/', end: 'keys/~' })]
      for (const [i, { key, value }] of found.entries()) await rows.put(key, forge(value, found.at(i - 1)?.value ?? ''))
    })
    const service = await startService(t, { folder })
    await expectRebuilt(t, service.url, apiKeys.slice(0, 2))
    t.same(await service.core.services.views.verify({ kind: 'operator', name: 'test' }), { value: [] })
  })

t.test('a row that the log shows to exist is restored, although the views have as many rows as before', async t => {
  const folder = await copied(t)
  const warnings: string[] = []
  const keep = (_: object, text: string) => void (text.includes('views') && warnings.push(text))
  const service = await startService(t, { folder, logger: { ...silentLogger, warn: keep, error: keep } })
  const client = service.client(apiKey)
  t.equal((await client.send('/v1/balance')).status, 200, 'the service knows the key')
  await caughtUp(service.core)
  await change(join(folder, 'views'), 'rows', async rows => {
    const row = `keys/${sha256(apiKey)}`
    await rows.transaction(() => {
      rows.put('keys/another', rows.get(row) ?? '')
      rows.remove(row)
    })
  })
  t.equal((await client.send('/v1/key')).status, 503)
  await until('the row is restored', async () => (await client.send('/v1/key')).status === 200)
  await until('the rebuild has ended', () => warnings.length > 1)
  t.same(warnings, ['the views lack a row; rebuilding the views', 'the views were rebuilt'])
})

t.test('what the views hold beside rows may be damaged, and nobody is refused', async t => {
  const folder = await copied(t)
  for (const name of ['leases', 'reports', 'snapshots', 'nodes'])
    await change(join(folder, 'views'), name, async database => {
      for (const key of [...database.getKeys(), 'another']) await database.put(key, '5')
    })
  const service = await startService(t, { folder })
  await expectRebuilt(t, service.url, apiKeys)
  const { status } = await service.client(apiKeys[0]).run({ model: 'nano-banana-2', input: { prompt: 'a pear' } })
  t.equal(status, 200)
})

t.test('a service whose views were taken over by another log is not ready', async t => {
  const folder = await copied(t)
  const service = await startService(t, { folder })
  const isReady = async () => (await service.client().send('/readyz')).status === 200
  t.ok(await isReady())
  await change(join(folder, 'views'), 'meta', checkpoint({ origin: ANOTHER_ID, eventId: ANOTHER_ID }))
  t.notOk(await isReady())
})

t.test('a command rebuilds damaged views', async t => {
  const folder = await copied(t)
  await zero(join(folder, 'views/data.mdb'))
  const { code, stdout, stderr } = await runCommand({ args: ['views', 'rebuild'], env: { DATA_DIR: folder } })
  t.equal(code, 0)
  t.match(stdout, /^The views were rebuilt\./)
  t.notMatch(stderr, /^ +at /m, 'shows no stack')
})

t.test('an entry of the log that cannot be read ends the start', async t => {
  for (const text of ['{"half":', '["account-1",0,"id"]'])
    await t.test(text, async t => {
      const folder = await copied(t)
      await overwrite(join(folder, 'log'), 'entries', 2, text)
      await rm(join(folder, 'views'), { recursive: true })
      const message = await failedStart(t, folder)
      t.match(message, `${join(folder, 'log/data.mdb')}: the entry with the key 2, which is position 2, cannot be read`)
      t.match(message, 'restore it from a backup')
    })
})

t.test('an entry of the log whose key is no position ends the start', async t => {
  const folder = await copied(t)
  await overwrite(
    join(folder, 'log'),
    'entries',
    'text',
    JSON.stringify(['account-1', 0, 'id', 'AccountOpened', {}, {}]),
  )
  t.match(await failedStart(t, folder), 'the entry with the key text, which is position text, cannot be read')
})

t.test('an event of the log that no version has written ends the start', async t => {
  const folder = await copied(t)
  const entry = ['account-1', 0, 'id', 'Account\u001b[2JOpened', {}, {}]
  await overwrite(join(folder, 'log'), 'entries', 2, JSON.stringify(entry))
  await rm(join(folder, 'views'), { recursive: true })
  const message = await failedStart(t, folder)
  t.match(message, /account-1 .* Account\\u001b\[2JOpened .* revision 0 \(position 2\)/)
  t.match(message, 'restore it from a backup')
})

t.test('pages of the log that are damaged end the start', async t => {
  const folder = await copied(t)
  await zero(join(folder, 'log/data.mdb'), 8)
  await rm(join(folder, 'views'), { recursive: true })
  const message = await failedStart(t, folder)
  t.match(message, `${join(folder, 'log/data.mdb')}: MDB_`)
  t.match(message, 'restore it from a backup')
})

/** Files in the place of the log, by what they are. */
const strangers: Record<string, (folder: string) => Promise<unknown>> = {
  'random bytes': folder => writeFile(join(folder, 'log/data.mdb'), randomBytes(100 * PAGE_BYTES)),
  'an empty file': folder => truncate(join(folder, 'log/data.mdb')),
  'half a log': folder => truncate(join(folder, 'log/data.mdb'), 20 * PAGE_BYTES),
  'the views': folder => cp(join(folder, 'views/data.mdb'), join(folder, 'log/data.mdb')),
}

for (const [name, put] of Object.entries(strangers))
  t.test(`the service and its commands do not open ${name} as a log, and say what to do`, async t => {
    const folder = await copied(t)
    await put(folder)
    const before = await readFile(join(folder, 'log/data.mdb'))
    const service = new ServiceProcess(folder)
    const { code, stdout, stderr } = await service.ended
    t.same({ code, stdout }, { code: 1, stdout: '' })
    const { stderr: audited } = await runCommand({ args: ['audit', 'verify'], env: { DATA_DIR: folder } })
    for (const said of [stderr, await failedStart(t, folder), audited]) {
      t.match(said, join(folder, 'log'))
      t.match(said, /restore it from a backup|Correct the address of this store/)
      t.notMatch(said, /^ +at /m)
    }
    t.ok(before.equals(await readFile(join(folder, 'log/data.mdb'))))
  })

t.test('a log in the place of the views is neither opened nor deleted', async t => {
  const folder = await copied(t)
  await cp(join(folder, 'log/data.mdb'), join(folder, 'views/data.mdb'))
  const before = await readFile(join(folder, 'views/data.mdb'))
  t.match(await failedStart(t, folder), `${join(folder, 'views/data.mdb')} has a database "entries"`)
  t.ok(before.equals(await readFile(join(folder, 'views/data.mdb'))))
})

t.test('a missing log beside views or objects is refused, and --new-log makes one', async t => {
  const folder = await copied(t)
  await rm(join(folder, 'log'), { recursive: true })
  for (const rest of ['views', 'objects']) {
    const message = await failedStart(t, folder)
    t.match(message, `${join(folder, 'log')} holds no event log`)
    t.match(message, join(folder, rest))
    t.match(message, '--new-log')
    t.match(message, 'backup')
    await t.rejects(stat(join(folder, 'log')), { code: 'ENOENT' }, 'nothing is made where a backup belongs')
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
