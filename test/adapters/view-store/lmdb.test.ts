import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { openLmdbViewStore } from '../../../src/adapters/view-store/lmdb.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { BY_KEY, type Checkpoint } from '../../../src/ports/view-store.ts'
import { viewStoreContract } from '../../contract/view-store.ts'
import { openStoredViews, openViews } from '../../support/engine.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

viewStoreContract('a folder with LMDB', async t => {
  const folder = await temporaryFolder(t)
  let store = openLmdbViewStore(folder)
  t.teardown(() => store.close())
  const reopen = async () => {
    await store.close()
    store = openLmdbViewStore(folder)
    return store
  }
  return { store, reopen }
})

t.test('an unwritable folder is unavailable', async t => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'file'), '')
  t.throws(() => openLmdbViewStore(join(folder, 'file', 'views')), Unavailable)
})

t.test('two stores on one folder see each other’s commits', async t => {
  const folder = await temporaryFolder(t)
  const [one, other] = [await openViews(t, folder), await openViews(t, folder)]
  const to = { position: 0, eventId: 'a', origin: 'event-0', versions: { accounts: 'accounts 1' } }
  await one.commit({
    from: undefined,
    to,
    rows: [{ view: 'fruit', key: 'apple', row: { colour: 'red' } }],
    entries: [],
  })
  t.same(await other.checkpoint(), to)
  t.same(await other.get('fruit', 'apple'), { colour: 'red' })
})

t.test('a read sees the newest commit of another process, although an earlier read has just begun', async t => {
  const folder = await temporaryFolder(t)
  const store = await openStoredViews(t, folder)
  const reads = [
    () => store.get('fruit', 'apple'),
    async () => (await store.getMany([{ view: 'fruit', key: 'apple' }])).rows[0],
    async () => (await store.list('fruit', BY_KEY, { prefix: '', limit: 1 }))[0]?.row,
  ]
  for (const [number, read] of reads.entries()) {
    await read()
    const script = `const { open } = await import(process.argv[1])
      const rows = open({ path: process.argv[2], noSubdir: false }).openDB('rows', { encoding: 'string' })
      rows.putSync('fruit/apple', process.argv[3])`
    const args = [import.meta.resolve('lmdb'), folder, `${number}`]
    // No timer fires while this process waits for the other one.
    execFileSync(process.execPath, ['--input-type=module', '--eval', script, ...args])
    t.equal(await read(), `${number}`)
  }
})

t.test('what is read or written while a store closes is answered or refused', async t => {
  const store = openLmdbViewStore(await temporaryFolder(t))
  const snapshot = { body: 'x'.repeat(1000), mac: '' }
  const save = () => store.saveSnapshot('a stream', snapshot)
  const use = [() => store.checkpoint(), () => store.list('fruit', BY_KEY, { prefix: '', limit: 1 }), save]
  const saved = Promise.all(upTo(50).map(save))
  await delay(1)
  let isClosing = true
  const closed = store.close().then(() => {
    isClosing = false
  })
  const refusals: unknown[] = []
  const useAll = () => Promise.all(use.map(call => call().catch(error => refusals.push(error))))
  // Reads and writes that the library begins too late throw from its timers, which fails the test.
  while (isClosing) {
    await useAll()
    await delay(0)
  }
  await Promise.all([closed, saved])
  refusals.length = 0
  await useAll()
  await delay(10)
  t.equal(refusals.length, use.length)
  t.ok(refusals.every(error => error instanceof Unavailable))
})

t.test('an intact store can always be reopened', async t => {
  for (const seed of [3, 6]) {
    const folder = await temporaryFolder(t)
    const pick = picker(seed)
    const open: string[] = []
    let store = openLmdbViewStore(folder)
    let from: Checkpoint | undefined
    let rowCount = 0
    // Inserts small and large rows, and deletes some earlier ones, like a busy day of due work.
    for (let position = 0; position < 10; position++) {
      const goneKeys = upTo(pick(open.length + 1)).map(() => open.splice(pick(open.length), 1)[0] as string)
      const newKeys = upTo(pick(60)).map(() => `r${rowCount++}`)
      open.push(...newKeys)
      const size = () => (pick(10) === 0 ? pick(40_000) : pick(200))
      const rows = newKeys.map(key => ({ view: 'due', key, row: 'x'.repeat(size()) }))
      const gone = goneKeys.map(key => ({ view: 'due', key, row: undefined }))
      const to = { position, eventId: `event-${position}`, origin: 'event-0', versions: { accounts: 'accounts 1' } }
      await store.commit({ from, to, rows: [...rows, ...gone], entries: [] })
      await store.close()
      store = openLmdbViewStore(folder)
      from = to
    }
    t.same(await store.checkpoint(), from)
    await store.close()
  }
})

/** Deterministic pseudo-random numbers below a limit: Lehmer's generator. */
const picker = (seed: number) => {
  let state = seed
  return (limit: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
