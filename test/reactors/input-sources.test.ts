import t from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { type InputMedia, InputMediaError, type InputSource } from '../../src/ports/input-media.ts'
import { createInputSources } from '../../src/reactors/input-sources.ts'
import { RunSlots } from '../../src/reactors/run-slots.ts'
import { accountId, runId } from '../support/account-samples.ts'

const [ada, bob] = [accountId(1), accountId(2)]
const { signal } = new AbortController()
const media: InputMedia = { mimeType: 'image/png', bytes: new Uint8Array() }

/** Sources whose loads end when the test says so, on a clock that the test sets. */
const open = (slotsPerProvider = 2) => {
  const loads: { url: string; end(fault?: Error): void }[] = []
  const slots = new RunSlots(slotsPerProvider)
  let nowMs = 0
  let runs = 0
  const use = createInputSources({
    slots,
    clock: { ...systemClock, monotonicMs: () => nowMs },
    load: url =>
      new Promise((resolve, reject) => {
        loads.push({ url, end: fault => (fault ? reject(fault) : resolve(media)) })
      }),
  })
  const sourceOf = (owner = ada, url = 'https://a.example/1.png'): InputSource => ({
    ...{ url, runId: runId(++runs), accountId: owner, isLong: false },
  })
  const load = (owner = ada, url?: string, work = async () => 'done') => use(sourceOf(owner, url), signal, work)
  return { use, load, loads, slots, sourceOf, pass: (ms: number) => (nowMs += ms) }
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
  const { use, loads, slots, sourceOf } = open(1)
  const source = sourceOf()
  const run = { ...source, provider: 'a' }
  let freed = 0
  slots.freed.subscribe(() => freed++)
  t.ok(slots.reserve('a', ada))
  slots.hold(run)
  let isWorking = false
  const done = use(source, signal, async () => {
    isWorking = true
  })
  await someTurns()
  t.equal(freed, 1)
  t.ok(slots.reserve('a', bob), 'another run takes the slot')
  loads[0]?.end()
  await someTurns()
  t.notOk(isWorking, 'the work waits for a slot')
  slots.unreserve('a', bob)
  await done
  t.ok(isWorking)
  t.notOk(slots.reserve('a', bob))
  slots.release(run)
  t.ok(slots.reserve('a', bob))
})

t.test('a run that ends while it waits leaves its slot free', async t => {
  const { use, loads, slots, sourceOf } = open(1)
  for (const endsFirst of [true, false]) {
    const source = sourceOf()
    const run = { ...source, provider: 'a' }
    t.ok(slots.reserve('a', ada))
    slots.hold(run)
    const ending = new AbortController()
    const done = use(source, ending.signal, async () => undefined)
    await someTurns()
    t.ok(slots.reserve('a', bob))
    if (endsFirst) slots.release(run)
    loads.at(-1)?.end()
    await someTurns()
    if (!endsFirst) slots.release(run)
    ending.abort()
    await done.catch(() => undefined)
    slots.unreserve('a', bob)
  }
  t.ok(slots.reserve('a', bob))
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

t.test('a host that hangs gets one request at a time until it is quick again', async t => {
  const { load, loads, pass } = open()
  const slow = Array.from({ length: 4 }, () => load())
  await someTurns()
  pass(20_000)
  for (const { end } of loads) end(new InputMediaError('too late'))
  await Promise.allSettled(slow)
  const next = [load(), load(), load(ada, 'https://b.example/2.png')]
  await someTurns()
  t.same(
    loads.slice(4).map(({ url }) => new URL(url).host),
    ['a.example', 'b.example'],
  )
  loads[4]?.end()
  await someTurns()
  for (const { end } of loads) end()
  await Promise.all(next)
  t.equal(loads.length, 7)
})
