import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { openLmdbEventLogReadOnly } from '../../../src/adapters/event-log/lmdb-read-only.ts'
import { FLAGS_OFFSET, PAGE_BYTES } from '../../../src/adapters/lmdb/layout.ts'
import { BEFORE_FIRST, NO_STREAM } from '../../../src/ports/event-log.ts'
import { Damaged, Unavailable } from '../../../src/ports/faults.ts'
import { collect } from '../../support/collect.ts'
import { openLog } from '../../support/engine.ts'
import { needsPrograms } from '../../support/needs.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const event = () => ({ id: crypto.randomUUID(), type: 'Happened', data: {}, metadata: {} })

t.test('a log that another process writes is read, also what it writes later', async t => {
  const folder = await temporaryFolder(t)
  const log = await openLog(t, folder)
  await log.append('account-1', [event(), event()], NO_STREAM)
  const readable = openLmdbEventLogReadOnly(folder)
  t.equal(await readable.head(), 1)
  t.same(await collect(readable.readAll(BEFORE_FIRST)), await collect(log.readAll(BEFORE_FIRST)))
  await log.append('account-2', Array.from({ length: 3000 }, event), NO_STREAM)
  t.equal(await readable.head(), 3001)
  t.equal((await collect(readable.readAll(1))).length, 3000)
  await readable.close()
})

t.test('the events of streams that are not wanted are passed over', async t => {
  const folder = await temporaryFolder(t)
  const log = await openLog(t, folder)
  for (const stream of ['account-1', 'account-2']) await log.append(stream, [event(), event()], NO_STREAM)
  const readable = openLmdbEventLogReadOnly(folder)
  const skim = async (isWanted: (stream: string) => boolean) =>
    collect(readable.skimAll?.(BEFORE_FIRST, isWanted) ?? readable.readAll(BEFORE_FIRST))
  const all = await collect(log.readAll(BEFORE_FIRST))
  t.same(await skim(() => true), all)
  t.same(
    await skim(stream => stream === 'account-2'),
    all.map(each => (each.stream === 'account-1' ? { stream: each.stream, position: each.position } : each)),
  )
  await readable.close()
})

t.test('reading changes no byte of the file, and needs no lock file', async t => {
  const folder = await temporaryFolder(t)
  const log = await openLog(t, folder)
  await log.append('account-1', [event()], NO_STREAM)
  await log.close()
  await rm(join(folder, 'lock.mdb'))
  const digest = async () =>
    createHash('sha256')
      .update(await readFile(join(folder, 'data.mdb')))
      .digest('hex')
  const before = await digest()
  const readable = openLmdbEventLogReadOnly(folder)
  t.equal((await collect(readable.readAll(BEFORE_FIRST))).length, 1)
  await readable.close()
  t.equal(await digest(), before)
})

t.test('a long read goes on in a file that it opens again, so that little of the file stays mapped', async t => {
  const folder = await temporaryFolder(t)
  const log = await openLog(t, folder)
  const count = 70_000
  const events = Array.from({ length: count }, () => ({ ...event(), data: { text: 'x'.repeat(200) } }))
  for (let from = 0; from < count; from += 1000)
    await log.append('account-1', events.slice(from, from + 1000), from - 1)
  await log.close()

  const readable = openLmdbEventLogReadOnly(folder)
  const [all, ofStream] = [readable.readAll(BEFORE_FIRST), readable.readStream('account-1', 0)]
  const ids: string[] = []
  const idsOfStream: string[] = []
  for await (const page of all) {
    ids.push(...page.map(({ id }) => id))
    if (ids.length < count / 2) continue
    // Begun before the file was opened again, like the read by revision after it.
    for await (const page of ofStream) idsOfStream.push(...page.map(({ id }) => id))
    t.equal((await readable.readEvent('account-1', ids.length - 1))?.id, ids.at(-1))
  }
  const written = events.map(({ id }) => id).join()
  t.ok(ids.join() === written)
  t.ok(idsOfStream.join() === written)
  await readable.close()
  t.equal(await mapped(folder), 0)

  const skimmed = openLmdbEventLogReadOnly(folder)
  let skimmedEvents = 0
  for await (const page of skimmed.skimAll?.(BEFORE_FIRST, () => false) ?? []) skimmedEvents += page.length
  t.equal(skimmedEvents, count)
  const { size } = await stat(join(folder, 'data.mdb'))
  t.ok((await mapped(folder)) < size / 4, 'a part of the file is mapped')
  await skimmed.close()
  await t.rejects(collect(skimmed.readAll(BEFORE_FIRST)), Unavailable)
})

t.test('a log that is closed during a read is not opened again', async t => {
  const folder = await temporaryFolder(t)
  const log = await openLog(t, folder)
  await log.append('account-1', Array.from({ length: 40_000 }, event), NO_STREAM)
  await log.close()
  const readable = openLmdbEventLogReadOnly(folder)
  const read = async () => {
    let pages = 0
    for await (const _ of readable.readAll(BEFORE_FIRST)) if (++pages === 32) await readable.close()
  }
  await t.rejects(read(), Unavailable)
  t.equal(await mapped(folder), 0)
})

/** How many bytes of a log's file are mapped and count as memory of this process. */
const mapped = async (folder: string): Promise<number> => {
  const regions = (await readFile('/proc/self/smaps', 'utf8')).split(/^(?=[\da-f]+-[\da-f]+ )/m)
  const own = regions.filter(region => region.includes(join(folder, 'data.mdb')))
  return own.reduce((sum, region) => sum + Number(/^Rss: +(\d+) kB$/m.exec(region)?.[1]) * 1024, 0)
}

/** Prints the number of events in the log at a path, after an attempt to write beside it. */
const READER = `
  import { writeFileSync } from 'node:fs'
  import { openLmdbEventLogReadOnly } from './src/adapters/event-log/lmdb-read-only.ts'
  const [, folder] = process.argv
  try { writeFileSync(folder + '/file', '') } catch ({ code }) { console.log(code) }
  const log = openLmdbEventLogReadOnly(folder)
  let events = 0
  for await (const page of log.readAll(-1)) events += page.length
  console.log(events)
  await log.close()`

t.test('a log on a read-only file system is read', needsPrograms('unshare'), async t => {
  const folder = await temporaryFolder(t)
  const log = await openLog(t, folder)
  await log.append('account-1', [event(), event()], NO_STREAM)
  await log.close()
  const mounted = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@" "$0"'
  const reader = [process.execPath, '--import=tsx', '--input-type=module', '--eval', READER]
  const { stdout } = await promisify(execFile)(
    'unshare',
    ['--user', '--map-root-user', '--mount', 'sh', '-c', mounted, folder, ...reader],
    { timeout: 60_000 },
  )
  t.equal(stdout, 'EROFS\n2\n')
})

t.test('a folder without a log is unavailable, and is not created', async t => {
  const folder = join(await temporaryFolder(t), 'log')
  t.throws(() => openLmdbEventLogReadOnly(folder), new Unavailable(`${folder} holds no LMDB file`))
  await t.rejects(readFile(folder), { code: 'ENOENT' })
})

t.test('a log with a page of the wrong type is damaged', async t => {
  const folder = await temporaryFolder(t)
  const log = await openLog(t, folder)
  await log.append('one', Array.from({ length: 300 }, event), NO_STREAM)
  await log.close()
  const file = join(folder, 'data.mdb')
  const whole = await readFile(file)
  // The third page belongs to the log. On some other pages the library ends the process.
  const flags = 3 * PAGE_BYTES + FLAGS_OFFSET
  await writeFile(file, whole.fill(0, flags, flags + 2))
  t.throws(() => openLmdbEventLogReadOnly(folder), Damaged)
})

t.test('a file without the entries of a log is damaged', async t => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'views'))
  const { closeLmdb, openLmdb } = await import('../../../src/adapters/lmdb/environment.ts')
  await closeLmdb(openLmdb(join(folder, 'views'), { durable: false }))
  t.throws(() => openLmdbEventLogReadOnly(join(folder, 'views')), Damaged)
})
