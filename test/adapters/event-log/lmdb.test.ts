import { execFile } from 'node:child_process'
import { mkdir, open as openFile, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { openLmdbEventLog } from '../../../src/adapters/event-log/lmdb.ts'
import { openLmdbEventLogReadOnly } from '../../../src/adapters/event-log/lmdb-read-only.ts'
import { closeLmdb, openLmdb } from '../../../src/adapters/lmdb/environment.ts'
import { PAGE_BYTES } from '../../../src/adapters/lmdb/layout.ts'
import { openLmdbViewStore } from '../../../src/adapters/view-store/lmdb.ts'
import { openRecoverableViews } from '../../../src/adapters/view-store/lmdb-recovery.ts'
import { BEFORE_FIRST, type EventLog, NO_STREAM } from '../../../src/ports/event-log.ts'
import { Damaged, Unavailable } from '../../../src/ports/faults.ts'
import { eventLogContract } from '../../contract/event-log.ts'
import { collect } from '../../support/collect.ts'
import { openLog } from '../../support/engine.ts'
import { toRun } from '../../support/program.ts'
import { isInstalled } from '../../support/server-program.ts'
import { ProgramProcess, ScriptProcess } from '../../support/service-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

eventLogContract('a folder with LMDB', async t => {
  const folder = await temporaryFolder(t)
  let log = openLmdbEventLog(folder, error => t.fail(error.message))
  t.teardown(() => log.close())
  const reopen = async () => {
    await log.close()
    log = openLmdbEventLog(folder, error => t.fail(error.message))
    return log
  }
  return { log, reopen }
})

t.test('an empty log has no head', async t => {
  const log = await openLog(t)
  t.equal(await log.head(), BEFORE_FIRST)
  t.same(await collect(log.readAll(BEFORE_FIRST)), [])
})

t.test('positions count from 0 without gaps', async t => {
  const log = await openLog(t)
  for (const stream of ['one', 'other']) await log.append(stream, events(3), NO_STREAM)
  await log.append('one', events(1), 5).catch(() => undefined)
  await log.append('one', events(1), 2)
  t.same(positionsOf(await collect(log.readAll(BEFORE_FIRST))), [0, 1, 2, 3, 4, 5, 6])
})

t.test('many short streams are found, before and after they are indexed', async t => {
  const folder = await temporaryFolder(t)
  const log = await openLog(t, folder)
  const names = Array.from({ length: 1500 }, (_, index) => `stream-${index}`)
  const appendAll = async (log: EventLog, expectedRevision: number) =>
    Promise.all(names.map(name => log.append(name, events(1), expectedRevision)))
  const lengths = (log: EventLog) =>
    Promise.all(names.map(async name => (await collect(log.readStream(name, 0))).length))

  for (const revision of [NO_STREAM, 0, 1]) await appendAll(log, revision)
  t.ok((await lengths(log)).every(length => length === 3))
  const second = await openLog(t, folder)
  t.ok(
    (await lengths(second)).every(length => length === 3),
    'another process that opens the folder finds the same',
  )
  await appendAll(second, 2)
  t.ok(
    (await lengths(log)).every(length => length === 4),
    'the first process finds the events of the other',
  )
  await appendAll(log, 3)
  t.ok((await lengths(second)).every(length => length === 5))
})

t.test('two processes append to one folder, and a third follows', async t => {
  const COUNT = 150
  const folder = await temporaryFolder(t)
  const log = await openLog(t, folder)
  const stop = new AbortController()
  const seen: RawEvent[] = []
  const following = (async () => {
    for await (const page of log.follow(BEFORE_FIRST, stop.signal)) seen.push(...page)
  })()
  const processes = ['a', 'b'].map(
    name => new ScriptProcess('test/support/append-events.ts', [folder, name, String(COUNT)], {}),
  )
  const ends = await Promise.all(processes.map(({ ended }) => ended))
  t.same(
    ends.map(({ code, stderr }) => ({ code, stderr })),
    [0, 0].map(code => ({ code, stderr: '' })),
  )

  const all = await collect(log.readAll(BEFORE_FIRST))
  t.equal(all.length, 2 * 21 * COUNT, 'no append is lost or doubled')
  t.equal(new Set(all.map(({ id }) => id)).size, all.length)
  t.same(positionsOf(all), upTo(all.length))
  for (const by of ['a', 'b']) {
    t.same(numbersOf(await collect(log.readStream(`own-${by}`, 0))), upTo(20 * COUNT))
    const shared = await collect(log.readStream('shared', 0))
    t.same(numbersOf(shared.filter(({ data }) => (data as { by: string }).by === by)), upTo(COUNT))
    t.same(
      shared.map(({ revision }) => revision),
      upTo(2 * COUNT),
    )
  }

  await until('all events arrive', () => seen.length >= all.length)
  stop.abort()
  await following
  t.same(seen, all, 'the follower saw what the others wrote, in order and once')
})

t.test('a follower sees what another process appends', async t => {
  const folder = await temporaryFolder(t)
  const [log, other] = [await openLog(t, folder), await openLog(t, folder)]
  const following = log.follow(BEFORE_FIRST, AbortSignal.timeout(PATIENCE_MS))[Symbol.asyncIterator]()
  const next = following.next()
  const [event] = events(1)
  await other.append('one', [event as ReturnType<typeof newEvent>], NO_STREAM)
  t.equal((await next).value?.[0].id, event?.id)
  await following.return?.()
})

t.test('a log that ends after any of its pages is not opened or changed', async t => {
  const folder = await filled(t)
  const file = join(folder, 'data.mdb')
  const whole = await readFile(file)
  // With one meta page, it may be a file that another process is creating.
  for (let bytes = whole.length - 1; bytes >= 2 * PAGE_BYTES; bytes -= PAGE_BYTES) {
    await truncate(file, bytes)
    refuses(t, folder, /data\.mdb is truncated to \d+ of \d+ bytes; restore it from a backup/)
    t.throws(() => openLmdbEventLogReadOnly(folder), Damaged)
    t.ok(whole.subarray(0, bytes).equals(await readFile(file)))
  }
})

t.test('a file of another store or program is not opened or changed, and views are no log', async t => {
  const other = join(await temporaryFolder(t), 'other')
  const theirs = openLmdb(other, { durable: true })
  await theirs.put('a', 1)
  await closeLmdb(theirs)
  const views = join(await temporaryFolder(t), 'views')
  await openLmdbViewStore(views).close()
  const log = await filled(t)
  for (const [folder, open] of [
    [other, () => openLmdbEventLog(other, () => undefined)],
    [views, () => openLmdbEventLog(views, () => undefined)],
    [other, () => openLmdbViewStore(other)],
    [log, () => openRecoverableViews({ folder: log, check: 'always', onDamage: error => t.fail(error.message) })],
  ] as const) {
    const before = await readFile(join(folder, 'data.mdb'))
    const message = /data\.mdb has a database "\w+", .*\. Nothing was written to it\. Correct the address of this store/
    t.throws(open, { name: 'Unavailable', message })
    t.ok(before.equals(await readFile(join(folder, 'data.mdb'))))
  }
})

t.test('a file of another format is not opened', async t => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'data.mdb'), 'this is no database '.repeat(5000))
  await refusesElsewhere(t, folder)
})

t.test('a log with overwritten first pages is not opened', async t => {
  const folder = await filled(t)
  const file = await openFile(join(folder, 'data.mdb'), 'r+')
  await file.write(Buffer.alloc(2 * 4096, 0xff), 0, 2 * 4096, 0)
  await file.close()
  await refusesElsewhere(t, folder)
})

t.test('a log with an unreadable last entry is not opened', async t => {
  for (const entry of ['["one",300,"', 'null', '{}']) {
    const folder = await filled(t)
    await tamper(folder, (entries, head) => entries.put(head, entry))
    refuses(t, folder, /the event log in .* is damaged \(.*\); restore it from a backup/, entry)
  }
})

t.test('a log with a missing entry near its end is not opened', async t => {
  const folder = await filled(t)
  await tamper(folder, (entries, head) => entries.remove(head - 1))
  refuses(t, folder, /position \d+ is missing/)
})

t.test('an unwritable folder is unavailable', async t => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'file'), '')
  const opening = () => openLmdbEventLog(join(folder, 'file', 'log'), () => undefined)
  t.throws(opening, { name: 'Unavailable', message: /file\/log cannot be written/ })
  t.throws(opening, Unavailable)
})

t.test('a missing folder is created', async t => {
  const folder = join(await temporaryFolder(t), 'a', 'b')
  const log = await openLog(t, folder)
  await log.append('one', events(1), NO_STREAM)
  t.ok((await stat(folder)).isDirectory())
})

t.test('a failed commit ends the process, and its appends are not confirmed', async t => {
  const folder = await temporaryFolder(t)
  const deaths: Error[] = []
  const log = openLmdbEventLog(folder, error => deaths.push(error))
  t.teardown(() => log.close())
  await log.append('one', events(1), NO_STREAM)
  // The transaction reads what others wrote, and fails.
  await tamper(folder, (entries, head) => entries.put(head + 1, 'null'))
  await t.rejects(log.append('one', events(1), 0), Damaged)
  t.match(deaths, [Damaged])
})

t.test('a closed log refuses appends and reads, and ends no process', async t => {
  const log = openLmdbEventLog(await temporaryFolder(t), error => t.fail(error.message))
  const early = log.append('one', events(1), NO_STREAM)
  await log.close()
  t.same(await early, { revision: 0, position: 0 })
  await t.rejects(log.append('one', events(1), 0), Unavailable)
  await t.rejects(log.head(), Unavailable)
  await t.rejects(collect(log.readAll(BEFORE_FIRST)), Unavailable)
})

t.test('a durable environment does not confirm commits before they are on disk', async t => {
  const root = openLmdb(await temporaryFolder(t), { durable: true })
  t.teardown(() => closeLmdb(root))
  t.match(root, { overlappingSync: false, noSync: undefined })
})

t.test('an append is confirmed only if the disk confirms it', needsStrace(), async t => {
  const folder = await filled(t)
  const fail = ['-e', 'inject=fsync,fdatasync,msync:error=EIO']
  const traced = ['strace', '-f', '-qq', '-o', join(folder, 'trace'), '-e', 'trace=fsync,fdatasync,msync', ...fail]
  const { stdout } = await new ProgramProcess([...traced, ...toRun('test/support/append-one.ts'), folder], {}).ended
  t.equal(stdout, 'ends\nrejected\n')
})

t.test('what is appended while other processes open and close the log stays', async t => {
  const folder = await filled(t)
  const log = openLmdbEventLog(folder, error => t.fail(error.message))
  t.teardown(() => log.close())
  const openings = [1, 2].map(() => new ScriptProcess('test/support/open-log.ts', [folder, '100'], {}).ended)
  let areOpening = true
  const opened = Promise.all(openings).finally(() => {
    areOpening = false
  })
  let last = { position: 299, revision: 299 }
  while (areOpening) {
    const next = await log.append('one', events(1), last.revision)
    if (next.position !== last.position + 1) t.fail(`${next.position} follows ${last.position}`)
    last = next
  }
  t.same(
    (await opened).map(({ code, stdout }) => ({ code, stdout })),
    Array(2).fill({ code: 0, stdout: 'opened\n' }),
  )
  const all = (await collect(log.readAll(BEFORE_FIRST))).flat()
  t.same(positionsOf(all), upTo(last.position + 1))
})

t.test('a process that was killed while it opened the log takes nothing from it', async t => {
  const folder = await filled(t)
  const log = openLmdbEventLog(folder, error => t.fail(error.message))
  t.teardown(() => log.close())
  await log.append('one', events(1), 299)
  await stepBack(folder)
  t.same(await log.append('one', events(1), 300), { position: 301, revision: 301 })
  const reads = [
    async () => (await collect(log.readAll(299))).flat(),
    async () => (await collect(log.readStream('one', 300))).flat(),
    async () => [await log.readEvent('one', 300), await log.readEvent('one', 301)],
    async () => {
      for await (const page of log.follow(299, new AbortController().signal)) return page
      return []
    },
  ]
  for (const read of reads) {
    await stepBack(folder)
    t.same(positionsOf((await read()) as RawEvent[]), [300, 301])
  }
  await stepBack(folder)
  t.equal(await log.head(), 301)
})

t.test('an append waits while another process opens the log, but not for one that was killed', async t => {
  const folder = await filled(t)
  const log = openLmdbEventLog(folder, error => t.fail(error.message))
  t.teardown(() => log.close())
  const lock = join(folder, 'open.lock')
  await writeFile(lock, '')
  let isAppended = false
  const appended = log.append('one', events(1), 299).then(() => {
    isAppended = true
  })
  await delay(100)
  t.equal(isAppended, false)
  await utimes(lock, 0, 0)
  await appended
  await log.append('one', events(1), 300)
  await log.close()
  const again = openLmdbEventLog(folder, error => t.fail(error.message))
  await again.close()
  await t.rejects(stat(lock), { code: 'ENOENT' })
})

const PATIENCE_MS = 5000

/**
 * Makes LMDB take the transaction before the newest one for the newest, in the number that processes share, as a process
 * does that reads the file, and is stopped and then killed. Another process does so, since closing a file of LMDB's
 * would drop its locks in this one.
 */
const stepBack = (folder: string) =>
  promisify(execFile)(process.execPath, ['--eval', STEP_BACK, join(folder, 'lock.mdb')])
const STEP_BACK = `
  const { openSync, readSync, writeSync } = require('node:fs')
  const number = Buffer.alloc(8)
  const file = openSync(process.argv[1], 'r+')
  readSync(file, number, 0, 8, 8)
  number.writeBigUInt64LE(number.readBigUInt64LE() - 1n)
  writeSync(file, number, 0, 8, 8)`

const newEvent = (number: number) => ({
  id: crypto.randomUUID(),
  type: 'SomethingHappened',
  data: { number },
  metadata: {},
})
const events = (count: number) => upTo(count).map(newEvent)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
const positionsOf = (events: RawEvent[]) => events.map(({ position }) => position)
const numbersOf = (events: RawEvent[]) => events.map(({ data }) => (data as { number: number }).number)

/** A folder with a closed log of 300 events. */
const filled = async (t: Test): Promise<string> => {
  const folder = join(await temporaryFolder(t), 'log')
  await mkdir(folder)
  const log = openLmdbEventLog(folder, error => t.fail(error.message))
  await log.append('one', events(300), NO_STREAM)
  await log.close()
  return folder
}

const refuses = (t: Test, folder: string, message: RegExp, name = 'is damaged') => {
  const opening = () => openLmdbEventLog(folder, () => undefined)
  t.throws(opening, Damaged, name)
  t.throws(opening, { message }, name)
}

/** The same in a separate process, which must survive. */
const refusesElsewhere = async (t: Test, folder: string) => {
  const { code, signal, stdout } = await new ScriptProcess('test/support/open-log.ts', [folder], {}).ended
  t.same({ code, signal }, { code: 0, signal: null }, 'the process does not crash')
  t.match(stdout, /^Damaged: .* restore it from a backup/)
}

type Entries = { put(position: number, entry: string): unknown; remove(position: number): unknown }

/** The tap options of tests that break the disk. With CI=true, a missing program is a failure. */
function needsStrace(): { skip: string | false } {
  return { skip: !isInstalled('strace') && process.env['CI'] !== 'true' && 'strace is not installed' }
}

/** Corrupts entries like a broken disk. */
const tamper = async (folder: string, change: (entries: Entries, head: number) => unknown) => {
  const root = openLmdb(folder, { durable: true })
  const entries = root.openDB<string, number>('entries', { encoding: 'string' })
  const [head] = [...entries.getKeys({ reverse: true, limit: 1 })]
  await change(entries, head as number)
  await closeLmdb(root)
}
