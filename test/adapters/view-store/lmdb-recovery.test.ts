import { copyFile, open, readFile, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { closeLmdb, openLmdb } from '../../../src/adapters/lmdb/environment.ts'
import { openLmdbViewStore } from '../../../src/adapters/view-store/lmdb.ts'
import { openRecoverableViews } from '../../../src/adapters/view-store/lmdb-recovery.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { BY_KEY, type StoredViews } from '../../../src/ports/view-store.ts'
import { cellsOf } from '../../support/dump.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const PAGE_BYTES = 4096

const checkpoint = { position: 0, eventId: 'a', origin: 'a', versions: {} }

/** Opens the views of a folder, and collects the damage that they report. */
const openViews = (t: Test, folder: string) => {
  const damage: string[] = []
  const onDamage = ({ message }: Error) => damage.push(message)
  const views = openRecoverableViews({ folder, check: 'always', onDamage })
  t.teardown(() => views.close())
  return { views, damage }
}

/** A folder with closed views of some thirty pages, among them pages of long values, and the addresses of the cells. */
const filled = async (t: Test) => {
  const folder = await temporaryFolder(t)
  const store = openLmdbViewStore(folder)
  const rows = Array.from({ length: 120 }, (_, number) => ({
    view: 'runs',
    key: `run_${number}`,
    row: 'x'.repeat(number % 40 === 0 ? 9000 : 300),
  }))
  const entries = rows.map(({ view, key }) => ({ view, index: 'due', place: `place-${key}`, key }))
  await store.commit({ from: undefined, to: checkpoint, rows, entries })
  const content = await addressesOf(store)
  await store.close()
  return { folder, content, pages: (await stat(join(folder, 'data.mdb'))).size / PAGE_BYTES }
}

const write = async (file: string, bytes: Uint8Array, position: number) => {
  const opened = await open(file, 'r+')
  await opened.write(bytes, 0, bytes.length, position)
  await opened.close()
}

/** MACs guard the values. */
const addressesOf = async (views: StoredViews) => [...(await cellsOf(views)).keys()].join()

t.test('a page that is empty, foreign or torn is found before anything reads it', async t => {
  const { folder, content, pages } = await filled(t)
  const random = seededRandom(7)
  const noise = (length: number) => Uint8Array.from({ length }, () => Math.floor(random() * 256))
  let found = 0
  for (let page = 2; page < pages; page++)
    for (const bytes of [new Uint8Array(PAGE_BYTES), noise(PAGE_BYTES), noise(64)]) {
      const damaged = await temporaryFolder(t)
      await copyFile(join(folder, 'data.mdb'), join(damaged, 'data.mdb'))
      await write(join(damaged, 'data.mdb'), bytes, page * PAGE_BYTES)
      const { views, damage } = openViews(t, damaged)
      found += damage.length
      t.equal((await addressesOf(views)) === (damage.length > 0 ? '' : content), true, `page ${page}`)
      await views.close()
    }
  t.ok(found > pages, `${found} of ${3 * pages} damages hit a tree`)
})

t.test('views without their end, or that are no views, are replaced', async t => {
  const { folder, content, pages } = await filled(t)
  const whole = await readFile(join(folder, 'data.mdb'))
  const { views, damage } = openViews(t, folder)
  t.same([await addressesOf(views), damage], [content, []], 'intact views are kept')
  await views.close()
  for (const size of [0, 100, PAGE_BYTES, whole.length / 2, whole.length - PAGE_BYTES * 20]) {
    await write(join(folder, 'data.mdb'), whole, 0)
    await truncate(join(folder, 'data.mdb'), size)
    const { views, damage } = openViews(t, folder)
    t.equal(damage.length, 1, `${size} bytes of ${pages} pages`)
    t.equal(await views.checkpoint(), undefined)
    await views.commit({ from: undefined, to: checkpoint, rows: [], entries: [] })
    await views.close()
  }
})

t.test('a replacement that a kill has interrupted is made by the next start', async t => {
  for (const left of ['data.mdb', 'lock.mdb']) {
    const { folder } = await filled(t)
    await write(join(folder, 'data.mdb'), new Uint8Array(PAGE_BYTES * 20), PAGE_BYTES * 10)
    await rm(join(folder, left === 'data.mdb' ? 'lock.mdb' : 'data.mdb'))
    const { views, damage } = openViews(t, folder)
    t.equal(damage.length, left === 'data.mdb' ? 1 : 0)
    t.equal(await views.checkpoint(), undefined)
  }
})

t.test('views that are damaged while they are in use are replaced for all who use them', async t => {
  const { folder, pages } = await filled(t)
  const [one, other] = [openViews(t, folder), openViews(t, folder)]
  const dump = await one.views.dump()
  await write(join(folder, 'data.mdb'), new Uint8Array(PAGE_BYTES * (pages - 10)), PAGE_BYTES * 10)
  const all = (views: StoredViews) => views.list('runs', BY_KEY, { prefix: '', limit: 1000 })
  await t.rejects(all(one.views), Unavailable)
  t.equal(one.damage.length, 1)
  t.match(one.damage[0], 'MDB_')
  t.equal(await one.views.checkpoint(), undefined)
  await one.views.commit({ from: undefined, to: checkpoint, rows: [], entries: [] })
  t.same(await other.views.checkpoint(), checkpoint)
  t.same(await all(other.views), [])
  t.equal(other.damage.length, 0)
  await t.rejects(async () => {
    for await (const _ of dump.cells);
  }, Unavailable)
  dump.close()
  t.equal(one.damage.length, 1, 'reads that began before do not replace them again')
})

t.test('values that are no JSON count as values that no service wrote', async t => {
  const { folder } = await filled(t)
  const { views } = openViews(t, folder)
  await views.lease(['run_1'], 'one', 0, 1000)
  await views.report('one', 'well', 0, 1000)
  await views.saveSnapshot('account-1', { body: '', mac: '' })
  const root = openLmdb(folder, { durable: false })
  for (const [name, key] of [
    ['leases', 'run_1'],
    ['reports', 'one'],
    ['snapshots', 'account-1'],
    ['meta', 'checkpoint'],
  ] as const)
    await root.openDB<string, string>(name, { encoding: 'string' }).put(key, '{"half":')
  await closeLmdb(root)

  t.same(await views.lease(['run_1'], 'other', 0, 1000), ['run_1'])
  t.same(await views.reports(), [])
  await views.report('other', 'well', 0, 1000)
  t.equal((await views.reports()).length, 1)
  t.equal(await views.loadSnapshot('account-1'), null)
  t.match(await views.checkpoint(), { origin: '' })
})
