import root, { type Test } from 'tap'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import {
  type Batch,
  BY_KEY,
  type Cell,
  type Checkpoint,
  CheckpointMoved,
  MAX_CLOCK_SKEW_MS,
  type Range,
  type Report,
  type StoredViews,
} from '../../src/ports/view-store.ts'

export interface OpenedViews {
  store: StoredViews
  reopen(): Promise<StoredViews>
}

/** The contract of all view stores. Each opened store is empty. */
export const viewStoreContract = (name: string, open: (t: Test) => Promise<OpenedViews>, parent: Test = root) =>
  parent.test(`${name} is a view store`, async t => {
    t.test('an empty store has no checkpoint, row or entry', async t => {
      const { store } = await open(t)
      t.equal(await store.checkpoint(), undefined)
      t.equal(await store.get('fruit', 'apple'), undefined)
      t.same(await store.list('fruit', 'byName', { prefix: '', limit: 1 }), [])
      t.same(await store.getMany([{ view: 'fruit', key: 'apple' }]), { position: BEFORE_FIRST, rows: [undefined] })
      t.same(await dumpOf(store), { checkpoint: undefined, cells: [] })
    })

    t.test('a commit writes rows, entries and checkpoint', async t => {
      const { store } = await open(t)
      await store.commit(batch(undefined, 1, { apple: 'red', pear: 'green' }))
      t.same(await store.checkpoint(), checkpointAt(1))
      t.equal(await store.get('fruit', 'apple'), colourText('red'))
      t.same(await store.getMany(['pear', 'plum', 'apple', 'pear'].map(key => ({ view: 'fruit', key }))), {
        position: 1,
        rows: [colourText('green'), undefined, colourText('red'), colourText('green')],
      })
      t.same(await store.getMany([]), { position: 1, rows: [] })
    })

    t.test('a later commit replaces and deletes rows', async t => {
      const { store } = await open(t)
      await store.commit(batch(undefined, 1, { apple: 'red', pear: 'green' }))
      await store.commit(batch(1, 2, { apple: 'brown', pear: undefined }))
      t.equal(await store.get('fruit', 'apple'), colourText('brown'))
      t.same(await store.get('fruit', 'pear'), undefined)
      t.same(await placesOf(store), ['apple'])
    })

    t.test('views are separate', async t => {
      const { store } = await open(t)
      const change = { from: undefined, to: checkpointAt(1), entries: [] }
      await store.commit({
        ...change,
        rows: [
          { view: 'fruit', key: 'one', row: '"fruit"' },
          { view: 'fruits', key: 'one', row: '"fruits"' },
        ],
      })
      t.equal(await store.get('fruit', 'one'), '"fruit"')
      t.equal(await store.get('fruits', 'one'), '"fruits"')
      t.equal(await store.get('frui', 'one'), undefined)
    })

    t.test('a row is read back as the same text', async t => {
      const { store } = await open(t)
      const text = '{"__proto__":{"a":1},"":null,"é\\u0000":"\u{1f642}","list":[0.1,-1,1e21,true,{}],"10":1,"2":2}'
      const rows = [{ view: 'fruit', key: 'odd', row: text }]
      await store.commit({ from: undefined, to: checkpointAt(1), rows, entries: [] })
      t.equal(await store.get('fruit', 'odd'), text)
    })

    t.test('a commit from another checkpoint writes nothing', async t => {
      const { store } = await open(t)
      await t.rejects(store.commit(batch(1, 2, { apple: 'red' })), CheckpointMoved, 'the store is empty')
      t.equal(await store.checkpoint(), undefined)
      await store.commit(batch(undefined, 1, { apple: 'red' }))
      const before = await dumpOf(store)
      for (const from of [undefined, 0, 2])
        await t.rejects(store.commit(batch(from, 3, { apple: 'blue', plum: 'blue' })), CheckpointMoved, `from ${from}`)
      t.same(await dumpOf(store), before)
    })

    t.test('of concurrent commits from one checkpoint, one succeeds', async t => {
      const { store } = await open(t)
      await store.commit(batch(undefined, 1, {}))
      const names = Array.from({ length: 50 }, (_, index) => `apple-${index}`)
      const outcomes = await Promise.allSettled(
        names.map((name, index) => store.commit(batch(1, 2 + index, { [name]: 'red' }))),
      )
      const [winner, ...others] = names.filter((_, index) => outcomes[index]?.status === 'fulfilled')
      t.same(others, [])
      t.same(await placesOf(store), [winner])
    })

    for (const index of ['byName', BY_KEY])
      t.test(`${index} is listed in order, in both directions`, async t => {
        const { store } = await open(t)
        const places = ['10', '9', 'A', 'a', 'b', 'c', '~', 'é', '日本']
        await store.commit(batch(undefined, 1, colours(places.toReversed())))
        t.same(await placesOf(store, {}, index), places)
        t.same(await placesOf(store, { newestFirst: true }, index), places.toReversed())
        t.same(await placesOf(store, { prefix: '日' }, index), ['日本'])
        const [entry] = await store.list('fruit', index, { prefix: '', limit: 1 })
        t.same(entry, { place: '10', key: '10', row: colourText('red') })
      })

    for (const index of ['byName', BY_KEY])
      t.test(`a part of ${index} is listed`, async t => {
        const { store } = await open(t)
        await store.commit(batch(undefined, 1, colours(['a/1', 'b/1', 'b/2', 'b/3', 'c/1'])))
        for (const [what, bounds, expected] of parts)
          t.equal((await placesOf(store, { prefix: 'b/', ...bounds }, index)).join(' '), expected, what)
        for (const [what, bounds, expected] of partsNewestFirst)
          t.equal(
            (await placesOf(store, { prefix: 'b/', newestFirst: true, ...bounds }, index)).join(' '),
            expected,
            `${what}, newest first`,
          )
      })

    t.test('a failed commit leaves nothing behind', async t => {
      const { store } = await open(t)
      await store.commit(batch(undefined, 1, colours(['a'])))
      const { rows, entries } = batch(1, 2, colours(['b']))
      const impossible = { view: 'fruit', index: 'byName', place: 'x'.repeat(5000), key: 'b' }
      await t.rejects(
        store.commit({ from: checkpointAt(1), to: checkpointAt(2), rows, entries: [...entries, impossible] }),
      )
      t.same(await placesOf(store), ['a'])
      t.equal(await store.get('fruit', 'b'), undefined)
      t.same(await store.checkpoint(), checkpointAt(1))
      await store.commit({ from: checkpointAt(1), to: checkpointAt(2), rows, entries })
      t.same(await placesOf(store), ['a', 'b'])
    })

    t.test('indexes are separate', async t => {
      const { store } = await open(t)
      const rows = [{ view: 'fruit', key: 'apple', row: colourText('red') }]
      const entries = ['byName', 'byNam', 'byNames'].map(index => ({
        view: 'fruit',
        index,
        place: index,
        key: 'apple',
      }))
      await store.commit({ from: undefined, to: checkpointAt(1), rows, entries })
      t.same(await placesOf(store), ['byName'])
      t.same(await placesOf(store, { newestFirst: true }), ['byName'])
    })

    t.test('a lease has one holder until it ends', async t => {
      const { store } = await open(t)
      t.same(await store.lease(['a', 'b'], 'one', 0, 100), ['a', 'b'])
      t.same(await store.lease(['a', 'b', 'c'], 'other', 50, 150), ['c'])
      t.same(await store.lease(['a', 'b', 'c'], 'one', 60, 200), ['a', 'b'], 'the holder renews its leases')
      t.same(await store.lease(['a', 'c'], 'other', 199, 300), ['c'])
      t.same(await store.lease(['a', 'c'], 'other', 200, 300), ['a', 'c'], 'an expired lease is free')
      t.same(await store.lease([], 'one', 0, 100), [])
    })

    t.test('a lease that was taken while a clock was far ahead is void', async t => {
      const { store } = await open(t)
      const aheadMs = MAX_CLOCK_SKEW_MS
      t.same(await store.lease(['a'], 'one', aheadMs, aheadMs + 100), ['a'])
      t.same(await store.lease(['a'], 'other', 0, 100), [], 'clocks may differ by so much')
      t.same(await store.lease(['b'], 'one', aheadMs + 1, aheadMs + 101), ['b'])
      t.same(await store.lease(['b'], 'other', 0, 100), ['b'])
      t.same(await store.lease(['b'], 'one', 50, 150), [], 'the new lease is valid')
    })

    t.test('a released lease is free', async t => {
      const { store } = await open(t)
      await store.lease(['a', 'b'], 'one', 0, 100)
      await store.release(['a'], 'other')
      t.same(await store.lease(['a'], 'other', 1, 100), [], 'only its holder can release it')
      await store.release(['a', 'never held'], 'one')
      t.same(await store.lease(['a', 'b'], 'other', 1, 100), ['a'])
    })

    t.test('of concurrent requests for a lease, one succeeds', async t => {
      const { store } = await open(t)
      const holders = Array.from({ length: 20 }, (_, index) => `holder-${index}`)
      const got = await Promise.all(holders.map(holder => store.lease(['a'], holder, 0, 100)))
      t.equal(got.flat().length, 1)
    })

    t.test('a report is kept until its process replaces or deletes it', async t => {
      const { store } = await open(t)
      t.same(await store.reports(), [])
      await store.report('one', '{"a":"β c"}', 0, 100)
      await store.report('other', 'b', 0, 100)
      t.same(textsOf(await store.reports()), ['b', '{"a":"β c"}'])
      await store.report('one', 'c d', 50, 150)
      t.same(await store.reports().then(all => all.find(({ text }) => text === 'c d')?.untilMs), 150)
      t.same(textsOf(await store.reports()), ['b', 'c d'])
      t.same((await dumpOf(store)).cells, [], 'a report is not part of the views')
      await store.report('one', undefined, 60, 160)
      t.same(textsOf(await store.reports()), ['b'])
      await store.clear()
      t.same(await store.reports(), [])
    })

    t.test('reports of processes that are gone are deleted', async t => {
      const { store } = await open(t)
      const skewMs = MAX_CLOCK_SKEW_MS
      await store.report('gone', 'gone', 0, 100)
      await store.report('ahead', 'ahead', 0, 2 * skewMs + 201)
      await store.report('one', '1', 99 + skewMs, 200 + skewMs)
      t.same(textsOf(await store.reports()), ['1', 'gone'], 'clocks may differ by so much')
      await store.report('one', '2', 100 + skewMs, 201 + skewMs)
      t.same(textsOf(await store.reports()), ['2'])
    })

    t.test('a snapshot is stored, replaced, and deleted with all others', async t => {
      const { store } = await open(t)
      const snapshot = { body: '{"revision":9}', mac: 'f'.repeat(64) }
      t.equal(await store.loadSnapshot('one'), undefined)
      await store.saveSnapshot('one', snapshot)
      await store.saveSnapshot('other', { ...snapshot, body: '1' })
      await store.saveSnapshot('one', { ...snapshot, body: '12' })
      t.same(await store.loadSnapshot('one'), { ...snapshot, body: '12' })
      t.same((await dumpOf(store)).cells, [], 'a snapshot is not part of the views')
      await store.deleteSnapshots()
      t.equal(await store.loadSnapshot('one'), undefined)
      t.equal(await store.loadSnapshot('other'), undefined)
    })

    t.test('nodes are stored and deleted by key', async t => {
      const { store } = await open(t)
      t.same(await store.loadNodes(['a']), [undefined])
      await store.saveNodes([
        ['a', '{"kind":"leaf"}'],
        ['b', 'β'],
        ['c', 'c'],
      ])
      await store.saveNodes([])
      t.same(await store.loadNodes(['b', 'x', 'a']), ['β', undefined, '{"kind":"leaf"}'])
      t.same((await dumpOf(store)).cells, [], 'a node is not part of the views')
      await store.saveNodes([
        ['a', undefined],
        ['b', '2'],
        ['x', undefined],
        ['d', 'd'],
      ])
      t.same(await store.loadNodes(['a', 'b', 'c', 'd']), [undefined, '2', 'c', 'd'])
      await store.saveNodes([['c', undefined]])
      t.same(await store.loadNodes(['c', 'd']), [undefined, 'd'])
      t.same(await store.loadNodes([]), [])
      await store.saveSnapshot('one', { body: '{}', mac: '' })
      await store.clearNodes()
      t.same(await store.loadNodes(['b', 'd']), [undefined, undefined])
      t.ok(await store.loadSnapshot('one'), 'nothing else is cleared')
    })

    t.test('a dump is a consistent snapshot of all cells by ascending address', async t => {
      const { store } = await open(t)
      await store.commit(batch(undefined, 1, { pear: 'green', apple: 'red' }))
      const { checkpoint, cells, close } = await store.dump()
      await store.commit(batch(1, 2, { apple: 'brown', pear: undefined, plum: 'blue' }))
      const addresses: string[] = []
      const values: string[] = []
      for await (const { address, value } of cells) {
        addresses.push(address)
        values.push(value)
      }
      close()
      t.same(checkpoint, checkpointAt(1))
      t.same(addresses, [...addresses].sort())
      t.same(values, ['apple', 'pear', '{"colour":"red"}', '{"colour":"green"}'])
    })

    t.test('a slow dump stays consistent during writes', async t => {
      const { store } = await open(t)
      const names = Array.from({ length: 1000 }, (_, index) => `fruit-${String(index).padStart(4, '0')}`)
      await store.commit(batch(undefined, 1, colours(names)))
      const before = await dumpOf(store)
      const { cells, close } = await store.dump()
      const read: Cell[] = []
      let position = 1
      for await (const cell of cells) {
        read.push(cell)
        if (read.length % 100 !== 1) continue
        const [changed, gone, back] = [3, 5, 7].map(factor => names[(position * factor * 31) % names.length] as string)
        const changes = {
          [changed as string]: `colour-${position}`,
          [gone as string]: undefined,
          [back as string]: 'new',
        }
        await store.commit(batch(position, position + 1, { ...changes, [`fruit-${position}-new`]: 'red' }))
        position++
      }
      close()
      t.same(read, before.cells)
      t.not((await dumpOf(store)).cells.length, before.cells.length, 'the next dump shows all writes')
    })

    t.test('of several changes to one cell in a commit, the last wins', async t => {
      const { store } = await open(t)
      const rows = ['red', 'blue', undefined, 'green'].map(colour => ({
        view: 'fruit',
        key: 'apple',
        row: colour && colourText(colour),
      }))
      const entries = ['apple', undefined, 'apple', undefined].map(key => ({
        ...{ view: 'fruit', index: 'byName' },
        ...{ place: 'apple', key },
      }))
      await store.commit({ from: undefined, to: checkpointAt(1), rows, entries })
      t.same((await dumpOf(store)).cells, [{ view: 'fruit', address: 'rows/fruit/apple', value: '{"colour":"green"}' }])
    })

    t.test('a large commit can be written and reverted', async t => {
      const { store } = await open(t)
      const names = Array.from({ length: 5003 }, (_, index) => `fruit-${index}`)
      await store.commit(batch(undefined, 1, colours(names)))
      const { rows } = await store.getMany(names.map(key => ({ view: 'fruit', key })))
      t.equal(rows.filter(Boolean).length, names.length)
      t.same(await placesOf(store, { limit: 10_000 }), [...names].sort())
      t.same(await placesOf(store, { limit: 10_000 }, BY_KEY), [...names].sort())
      await store.commit(batch(1, 2, Object.fromEntries(names.slice(1).map(name => [name, undefined]))))
      t.same(await placesOf(store), ['fruit-0'])
      t.same(await placesOf(store, {}, BY_KEY), ['fruit-0'])
    })

    t.test('an entry for a missing row has no row', async t => {
      const { store } = await open(t)
      await store.commit(batch(undefined, 1, colours(['apple', 'pear'])))
      const rows = [{ view: 'fruit', key: 'apple', row: undefined }]
      await store.commit({ from: checkpointAt(1), to: checkpointAt(2), rows, entries: [] })
      const entries = await store.list('fruit', 'byName', { prefix: '', limit: 10 })
      t.same(
        entries.map(({ key, row }) => [key, row === undefined]),
        [
          ['apple', true],
          ['pear', false],
        ],
      )
    })

    t.test('cells are replaced atomically', async t => {
      const [{ store }, { store: sound }] = [await open(t), await open(t)]
      await store.commit(batch(undefined, 1, { apple: 'rotten', plum: 'blue' }))
      await sound.commit(batch(undefined, 1, { apple: 'red', pear: 'green' }))
      const [{ cells: is }, should] = [await dumpOf(store), await dumpOf(sound)]
      const surplus = is.filter(({ address }) => !should.cells.some(cell => cell.address === address))
      const changes = [...surplus.map(({ address }) => ({ address, value: undefined })), ...should.cells]

      await t.rejects(store.replaceCells(changes, checkpointAt(2), checkpointAt(2)), CheckpointMoved)
      t.same((await dumpOf(store)).cells, is, 'nothing changes from another checkpoint')
      const rebuilt = { ...checkpointAt(1), versions: { fruit: 'fruit 2' } }
      await store.replaceCells(changes, checkpointAt(1), rebuilt)
      t.same(await dumpOf(store), { ...should, checkpoint: rebuilt })
      t.equal(await store.get('fruit', 'apple'), colourText('red'))
      t.same(await placesOf(store), ['apple', 'pear'])
    })

    t.test('a cleared store is empty', async t => {
      const { store } = await open(t)
      await store.commit(batch(undefined, 1, { apple: 'red' }))
      await store.lease(['a'], 'one', 0, 100)
      await store.saveSnapshot('one', { body: '{}', mac: '' })
      await store.saveNodes([['a', 'text']])
      await store.clear()
      t.same(await dumpOf(store), { checkpoint: undefined, cells: [] })
      t.same(await store.loadNodes(['a']), [undefined])
      t.same(await store.lease(['a'], 'other', 1, 100), ['a'])
      t.equal(await store.loadSnapshot('one'), undefined)
      await store.commit(batch(undefined, 1, { apple: 'red' }))
      t.same(await placesOf(store), ['apple'])
    })

    t.test('a reopened store keeps its content', async t => {
      const { store, reopen } = await open(t)
      await store.commit(batch(undefined, 1, { apple: 'red' }))
      const before = await dumpOf(store)
      t.same(await dumpOf(await reopen()), before)
    })
  })

/** Queries of the places a/1, b/1, b/2, b/3 and c/1 with the prefix b/, and their results. */
type Part = [what: string, bounds: Partial<Range>, places: string]

const parts: Part[] = [
  ['all places with a prefix', {}, 'b/1 b/2 b/3'],
  ['some', { limit: 2 }, 'b/1 b/2'],
  ['places after a place', { after: 'b/1' }, 'b/2 b/3'],
  ['places after an unused place', { after: 'b/15' }, 'b/2 b/3'],
  ['places before a place', { before: 'b/3' }, 'b/1 b/2'],
  ['places between two places', { after: 'b/1', before: 'b/3' }, 'b/2'],
  ['nothing between places in the wrong order', { after: 'b/3', before: 'b/1' }, ''],
  ['nothing after the last', { after: 'b/3' }, ''],
  ['an unused prefix', { prefix: 'z/' }, ''],
  ['a place equal to the prefix', { prefix: 'b/2' }, 'b/2'],
  ['nothing outside of the prefix, after a later place', { after: 'c/0' }, ''],
  ['nothing outside of the prefix, after an earlier place', { after: 'a/0' }, 'b/1 b/2 b/3'],
  ['nothing outside of the prefix, before a later place', { before: 'c/9' }, 'b/1 b/2 b/3'],
]

const partsNewestFirst: Part[] = [
  ['all places with a prefix', {}, 'b/3 b/2 b/1'],
  ['some', { limit: 2 }, 'b/3 b/2'],
  ['places after a place', { after: 'b/3' }, 'b/2 b/1'],
  ['places after an unused place', { after: 'b/25' }, 'b/2 b/1'],
  ['places before a place', { before: 'b/1' }, 'b/3 b/2'],
  ['places between two places', { after: 'b/3', before: 'b/1' }, 'b/2'],
  ['nothing between places in the wrong order', { after: 'b/1', before: 'b/3' }, ''],
  ['nothing after the first', { after: 'b/1' }, ''],
  ['an unused prefix', { prefix: 'z/' }, ''],
  ['a place equal to the prefix', { prefix: 'b/2' }, 'b/2'],
  ['nothing outside of the prefix, after a later place', { after: 'a/9' }, ''],
  ['nothing outside of the prefix, after an earlier place', { after: 'c/9' }, 'b/3 b/2 b/1'],
  ['nothing outside of the prefix, before a later place', { before: 'a/0' }, 'b/3 b/2 b/1'],
]

const colours = (names: string[]) => Object.fromEntries(names.map(name => [name, 'red']))

const checkpointAt = (position: number): Checkpoint => ({
  position,
  eventId: `event-${position}`,
  origin: 'event-0',
  versions: { accounts: 'accounts 1' },
})

const colourText = (colour: string) => JSON.stringify({ colour })

/** Fruit by name and colour, each with an entry under its name. */
const batch = (from: number | undefined, to: number, fruit: Record<string, string | undefined>): Batch<string> => ({
  from: from === undefined ? undefined : checkpointAt(from),
  to: checkpointAt(to),
  rows: Object.entries(fruit).map(([key, colour]) => ({ view: 'fruit', key, row: colour && colourText(colour) })),
  entries: Object.entries(fruit).map(([key, colour]) => ({
    view: 'fruit',
    index: 'byName',
    place: key,
    key: colour ? key : undefined,
  })),
})

const placesOf = async (store: StoredViews, range: Partial<Range> = {}, index = 'byName') =>
  (await store.list('fruit', index, { prefix: '', limit: 100, ...range })).map(({ place }) => place)

const textsOf = (reports: Report[]) => reports.map(({ text }) => text).sort()

const dumpOf = async (store: StoredViews) => {
  const { checkpoint, cells, close } = await store.dump()
  const list: Cell[] = []
  for await (const cell of cells) list.push(cell)
  close()
  return { checkpoint, cells: list }
}
