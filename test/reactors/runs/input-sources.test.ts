import t from 'tap'
import { MAX_PRESIGNED_BYTES } from '../../../schemas/primitives.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { type InputMedia, InputMediaError, type InputSource } from '../../../src/ports/input-media.ts'
import { InputSources } from '../../../src/reactors/runs/input-sources.ts'
import { ProviderPermits } from '../../../src/reactors/runs/provider-permits.ts'
import { accountId, runId } from '../../support/account-samples.ts'

const [ada, bob] = [accountId(1), accountId(2)]
const { signal } = new AbortController()
const media: InputMedia = { mimeType: 'image/png', bytes: new Uint8Array() }

/** Sources whose loads end when the test says so, on a clock that the test sets. */
const open = (permitsPerProvider = 2, maxBytes = 0) => {
  const loads: { url: string; onSize(sizeBytes: number): void; end(fault?: Error): void }[] = []
  const permits = new ProviderPermits(permitsPerProvider)
  let nowMs = 0
  let runs = 0
  const sources = new InputSources({
    permits,
    clock: { ...systemClock, monotonicMs: () => nowMs },
    find: async url => ({
      maxBytes,
      load: (_, onSize) =>
        new Promise((resolve, reject) => {
          loads.push({ url, onSize, end: fault => (fault ? reject(fault) : resolve(media)) })
        }),
    }),
  })
  const { use } = sources
  const sourceOf = (owner = ada, url = 'https://a.example/1.png'): InputSource => ({
    ...{ url, runId: runId(++runs), accountId: owner, isLong: false },
  })
  const load = (owner = ada, url?: string, work = async () => 'done') => use(sourceOf(owner, url), signal, work)
  return { sources, use, load, loads, permits, sourceOf, pass: (ms: number) => (nowMs += ms) }
}

const someTurns = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}

t.test('an account loads a part of the sources at a time, and leaves the others to another', async t => {
  const { load, loads } = open()
  const flood = Array.from({ length: 10 }, () => load())
  await someTurns()
  t.equal(loads.length, 4)
  const other = load(bob, 'https://b.example/1.png')
  await someTurns()
  t.equal(loads.length, 5)
  loads[4]?.end()
  t.equal(await other, 'done')
  for (let ended = 0; ended < 11; ended++) {
    loads[ended]?.end()
    await someTurns()
  }
  await Promise.all(flood)
  t.equal(loads.length, 11)
})

t.test(
  'large sources are loaded one after another, and one whose size turns out small gives its room back',
  async t => {
    const { load, loads } = open(20, MAX_PRESIGNED_BYTES)
    const done = Promise.allSettled([load(), load(), load(bob), load(bob)])
    await someTurns()
    t.equal(loads.length, 1)
    loads[0]?.onSize(1_000)
    await someTurns()
    t.equal(loads.length, 2)
    loads[1]?.end(new InputMediaError('nothing is there'))
    for (const next of [2, 3]) {
      await someTurns()
      t.equal(loads.length, next + 1)
      loads[next]?.end()
    }
    loads[0]?.end()
    t.equal((await done).filter(({ status }) => status === 'fulfilled').length, 3)
  },
)

t.test('a long source leaves the room for quick ones free', async t => {
  const { use, loads, sourceOf } = open(20, MAX_PRESIGNED_BYTES)
  const done = [true, false].map(isLong => use({ ...sourceOf(), isLong }, signal, async () => 'done'))
  await someTurns()
  t.equal(loads.length, 2)
  for (const { end } of loads) end()
  await Promise.all(done)
})

t.test('the wait for room does not make a host slow', async t => {
  const { load, loads, pass } = open(20, MAX_PRESIGNED_BYTES)
  const settle = async () => {
    await someTurns()
    for (const { onSize } of loads) onSize(0)
    await someTurns()
  }
  const quick = 'https://b.example/1.png'
  const first = load()
  const waiting = load(bob, quick)
  await someTurns()
  pass(20_000)
  loads[0]?.onSize(0)
  await someTurns()
  loads[1]?.end()
  await waiting
  const next = [1, 2, 3, 4].map(() => load(bob, quick))
  for (const _ of next) await settle()
  t.equal(loads.length, 2 + 4)
  for (const { end } of loads) end()
  await Promise.all([first, ...next])
})

t.test('a source counts until the work with it is done', async t => {
  const { load, loads } = open()
  let finish = () => {}
  const done = new Promise<string>(resolve => {
    finish = () => resolve('done')
  })
  const works = Array.from({ length: 5 }, () => load(ada, undefined, () => done))
  await someTurns()
  for (const { end } of loads) end()
  await someTurns()
  t.equal(loads.length, 4)
  finish()
  await someTurns()
  t.equal(loads.length, 5)
  loads[4]?.end()
  await Promise.all(works)
})

t.test('a run holds no slot while its source is loaded, and takes one again for the work', async t => {
  const { use, loads, permits, sourceOf } = open(1)
  const source = sourceOf()
  let freed = 0
  permits.freed.subscribe(() => freed++)
  t.ok(permits.acquirePermit('a', ada))
  permits.assignPermit(source.runId, 'a', ada)
  let isWorking = false
  const done = use(source, signal, async () => {
    isWorking = true
  })
  await someTurns()
  t.equal(freed, 1)
  t.ok(permits.acquirePermit('a', bob), 'another run takes the slot')
  loads[0]?.end()
  await someTurns()
  t.notOk(isWorking, 'the work waits for a slot')
  permits.releasePermit('a', bob)
  await done
  t.ok(isWorking)
  t.notOk(permits.acquirePermit('a', bob))
  permits.releaseRun(source.runId)
  t.ok(permits.acquirePermit('a', bob))
})

t.test('a run that waits until it may load its source holds no slot', async t => {
  const { use, loads, permits, sourceOf } = open(20)
  const runs = Array.from({ length: 6 }, () => sourceOf())
  const done = runs.map(run => {
    t.ok(permits.acquirePermit('a', ada))
    permits.assignPermit(run.runId, 'a', ada)
    return use(run, signal, async () => permits.releaseRun(run.runId))
  })
  await someTurns()
  t.equal(loads.length, 4, 'the other two wait')
  let reserved = 0
  while (permits.acquirePermit('a', bob)) reserved++
  t.equal(reserved, 10, 'no slot is taken')
  for (let ended = 0; ended < runs.length; ended++) {
    loads[ended]?.end()
    await someTurns()
  }
  await Promise.all(done)
})

t.test('an account has at most twice as many runs started as it may hold slots', async t => {
  const { permits, sourceOf } = open(8)
  const start = (owner = ada) => {
    const run = sourceOf(owner)
    if (!permits.acquirePermit('a', owner)) return undefined
    permits.assignPermit(run.runId, 'a', owner)
    permits.suspendPermit(run.runId)
    return run
  }
  const runs = Array.from({ length: 20 }, () => start()).filter(run => run !== undefined)
  t.equal(runs.length, 8)
  t.ok(start(bob), 'there is room for another account')
  const [ended] = runs
  if (ended) permits.releaseRun(ended.runId)
  t.ok(start())
  t.notOk(start())
})

t.test('the source of a run is missing until it is loaded', async t => {
  const { sources, use, loads, sourceOf } = open()
  const runs = Array.from({ length: 5 }, () => sourceOf())
  const missing = () => runs.filter(run => sources.missing(run.runId)).length
  const works: (() => void)[] = []
  const done = runs.map(run => use(run, signal, () => new Promise<void>(resolve => works.push(resolve))))
  await someTurns()
  t.equal(missing(), 5)
  loads[0]?.end()
  await someTurns()
  t.equal(missing(), 4, 'work with a source has begun')
  loads[1]?.end(new InputMediaError('nothing is there'))
  await t.rejects(Promise.all(done))
  t.equal(missing(), 3)
  for (const index of [2, 3, 4]) {
    loads[index]?.end()
    await someTurns()
  }
  t.equal(missing(), 0)
  for (const end of works) end()
  await Promise.allSettled(done)
})

t.test('a run that ends while it waits leaves its slot free', async t => {
  const { use, loads, permits, sourceOf } = open(1)
  for (const endsFirst of [true, false]) {
    const source = sourceOf()
    t.ok(permits.acquirePermit('a', ada))
    permits.assignPermit(source.runId, 'a', ada)
    const ending = new AbortController()
    const done = use(source, ending.signal, async () => undefined)
    await someTurns()
    t.ok(permits.acquirePermit('a', bob))
    if (endsFirst) permits.releaseRun(source.runId)
    loads.at(-1)?.end()
    await someTurns()
    if (!endsFirst) permits.releaseRun(source.runId)
    ending.abort()
    await done.catch(() => undefined)
    permits.releasePermit('a', bob)
  }
  t.ok(permits.acquirePermit('a', bob))
})

t.test('a source that cannot be loaded frees its place', async t => {
  const { load, loads } = open()
  for (let failed = 0; failed < 20; failed++) {
    const loading = load()
    await someTurns()
    loads.at(-1)?.end(new InputMediaError('nothing is there'))
    await t.rejects(loading, { message: 'nothing is there' })
  }
})

t.test('a host that hangs gets one request of an account at a time until it is quick again', async t => {
  const { load, loads, pass } = open()
  const slow = Array.from({ length: 4 }, () => load())
  await someTurns()
  pass(20_000)
  for (const { end } of loads) end(new InputMediaError('too late'))
  await Promise.allSettled(slow)
  const next = [load(), load(), load(ada, 'https://b.example/2.png'), load(bob)]
  await someTurns()
  t.same(
    loads.slice(4).map(({ url }) => new URL(url).host),
    ['a.example', 'b.example', 'a.example'],
    'and of each account one',
  )
  loads[4]?.end()
  await someTurns()
  for (const { end } of loads) end()
  await Promise.all(next)
  t.equal(loads.length, 8)
})

t.test('a run with two files takes one place, waits for both, and says which one is unusable', async t => {
  const { sources, use, loads, sourceOf } = open()
  const twoFiles = (url: string): InputSource => ({
    ...sourceOf(ada, url),
    parameter: 'image_url',
    further: [{ url: 'https://b.example/2.png', parameter: 'end_image_url' }],
  })
  // Were a place needed for each file, these would wait for each other.
  const runs = [1, 2, 3, 4].map(number => twoFiles(`https://a.example/${number}.png`))
  const seen: number[] = []
  const done = runs.map(run => use(run, signal, async (...media) => seen.push(media.length)))
  await someTurns()
  t.equal(loads.length, 4)
  const first = runs[0] as InputSource
  t.equal(sources.missing(first.runId), 'image_url')
  loads[0]?.end()
  await someTurns()
  t.equal(loads[4]?.url, 'https://b.example/2.png')
  t.equal(sources.missing(first.runId), 'end_image_url')
  loads[4]?.end(new InputMediaError('nothing is there'))
  await t.rejects(done[0] as Promise<unknown>, { name: 'InputMediaError', parameter: 'end_image_url' })
  for (const load of loads.slice(1, 4)) load.end()
  await someTurns()
  for (const load of loads.slice(5)) load.end()
  await Promise.allSettled(done)
  t.same(seen, [2, 2, 2])
})
