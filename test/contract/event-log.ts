import t, { type Test } from 'tap'
import type { RawEvent } from '../../schemas/recorded.ts'
import { type EventLog, type NewEvent, NO_STREAM, RevisionConflict } from '../../src/ports/event-log.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import { collect } from '../support/collect.ts'

export interface OpenedLog {
  log: EventLog
  /** Reopens the log. Closes it first if that loses state that is only in memory. */
  reopen(): Promise<EventLog>
  /** Interrupts some running reads in one of the given ways. */
  interrupt?(way: string): void
}

/** More than a page of any adapter. */
const MANY = 1100

/** The timeout for awaited events. */
const PATIENCE_MS = 5000

/**
 * The contract of all event logs. Positions may have gaps, and the log may hold foreign streams. A log that reads from
 * a server lists the ways in which reads can be interrupted; test/support/event-store/faults.ts tells how real servers
 * did.
 */
export const eventLogContract = (
  name: string,
  open: (t: Test) => Promise<OpenedLog>,
  interruptions: readonly string[] = [],
) =>
  t.test(`${name} is an event log`, async t => {
    t.test('a new stream starts at revision 0', async t => {
      const { log } = await open(t)
      const stream = newStream()
      const appended = await log.append(stream, numbered(1), NO_STREAM)
      t.equal(appended.revision, 0)
      t.equal(appended.position, await log.head())
      const next = await log.append(stream, numbered(2), 0)
      t.equal(next.revision, 2)
      t.equal(next.position, await log.head())
    })

    t.test('events are read as they were written, in order', async t => {
      const { log } = await open(t)
      const stream = newStream()
      const events = numbered(3)
      await log.append(stream, events, NO_STREAM)
      const read = await collect(log.readStream(stream, 0))
      t.same(
        read.map(({ id, type, data, metadata }) => ({ id, type, data, metadata })),
        events,
      )
      t.same(
        read.map(event => [event.stream, event.revision]),
        [0, 1, 2].map(revision => [stream, revision]),
      )
      t.equal(read.at(-1)?.position, await log.head())
    })

    t.test('a stream is read from a revision; past its end, or if it is missing, the result is empty', async t => {
      const { log } = await open(t)
      const stream = newStream()
      await log.append(stream, numbered(4), NO_STREAM)
      t.same(numbersOf(await collect(log.readStream(stream, 2))), [2, 3])
      t.same(await collect(log.readStream(stream, 4)), [])
      t.same(await collect(log.readStream(newStream(), 0)), [])
    })

    t.test(
      'one event is read by its revision; past the end of a stream, or if it is missing, there is none',
      async t => {
        const { log } = await open(t)
        const stream = newStream()
        await log.append(stream, numbered(MANY), NO_STREAM)
        const events = await collect(log.readStream(stream, 0))
        for (const revision of [0, 1, MANY - 1]) t.same(await log.readEvent(stream, revision), events[revision])
        t.equal(await log.readEvent(stream, MANY), undefined)
        t.equal(await log.readEvent(newStream(), 0), undefined)
      },
    )

    t.test('an unexpected revision is a conflict, and nothing is written', async t => {
      const { log } = await open(t)
      const stream = newStream()
      await t.rejects(log.append(stream, numbered(1), 0), RevisionConflict, 'the stream does not exist')
      await log.append(stream, numbered(2), NO_STREAM)
      for (const expectedRevision of [NO_STREAM, 0, 2])
        await t.rejects(log.append(stream, numbered(3), expectedRevision), RevisionConflict, `${expectedRevision}`)
      t.equal((await collect(log.readStream(stream, 0))).length, 2)
      t.equal((await log.append(stream, numbered(1), 1)).revision, 2)
    })

    t.test('a repeated append is refused or recognised; nothing is written twice', async t => {
      const { log } = await open(t)
      const stream = newStream()
      const [first, second] = [numbered(2), numbered(3, 2)]
      await log.append(stream, first, NO_STREAM)
      const appended = await log.append(stream, second, 1)
      for (const [events, expectedRevision, last] of [
        [first, NO_STREAM, 1],
        [second, 1, 4],
      ] as const) {
        const outcome = await log.append(stream, events, expectedRevision).catch(error => error)
        const { revision, position } = (await collect(log.readStream(stream, last)))[0] as RawEvent
        t.ok(outcome instanceof RevisionConflict || t.same(outcome, { revision, position }))
      }
      await t.rejects(
        log.append(stream, [...second, ...numbered(1)], 1),
        RevisionConflict,
        'more events than were written',
      )
      await t.rejects(log.append(stream, second.toReversed(), 1), RevisionConflict, 'in another order')
      t.same(numbersOf(await collect(log.readStream(stream, 0))), upTo(5))
      t.equal(appended.position, await log.head())
    })

    t.test('a conflict on one stream does not affect a concurrent append to another', async t => {
      const { log } = await open(t)
      const streams = [newStream(), newStream(), newStream()] as const
      await log.append(streams[1], numbered(1), NO_STREAM)
      const outcomes = await Promise.allSettled(streams.map(stream => log.append(stream, numbered(2), NO_STREAM)))
      t.same(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      t.same(
        await Promise.all(streams.map(async stream => (await collect(log.readStream(stream, 0))).length)),
        [2, 1, 2],
      )
    })

    t.test('of a hundred appends with the same expected revision, one is written', async t => {
      const { log } = await open(t)
      const stream = newStream()
      await log.append(stream, numbered(1), NO_STREAM)
      const attempts = Array.from({ length: 100 }, () => numbered(2))
      const outcomes = await Promise.allSettled(attempts.map(events => log.append(stream, events, 0)))
      const winners = attempts.filter((_, index) => outcomes[index]?.status === 'fulfilled')
      t.equal(winners.length, 1)
      t.ok(outcomes.every(outcome => outcome.status === 'fulfilled' || outcome.reason instanceof RevisionConflict))
      t.same(idsOf(await collect(log.readStream(stream, 1))), idsOf(winners[0] ?? []))
    })

    t.test('concurrent appends to a stream are written in order', async t => {
      const { log } = await open(t)
      const stream = newStream()
      const appends = Array.from({ length: 100 }, (_, index) => log.append(stream, numbered(1, index), index - 1))
      const positions = (await Promise.all(appends)).map(({ position }) => position)
      t.ok(rises(positions))
      t.same(numbersOf(await collect(log.readStream(stream, 0))), upTo(100))
    })

    t.test('an empty append leaves no trace', async t => {
      const { log } = await open(t)
      const stream = newStream()
      await log.append(stream, [], NO_STREAM).catch(() => undefined)
      t.same(await collect(log.readStream(stream, 0)), [])
      t.equal((await log.append(stream, numbered(1), NO_STREAM)).revision, 0)
    })

    t.test('a stream longer than a page is read completely, from any revision', async t => {
      const { log } = await open(t)
      const stream = newStream()
      await fill(log, stream, MANY)
      t.same(numbersOf(await collect(log.readStream(stream, 0))), upTo(MANY))
      t.same(numbersOf(await collect(log.readStream(stream, 70))), upTo(MANY).slice(70))
    })

    t.test('all events after a position are read in order', async t => {
      const { log } = await open(t)
      const before = await log.head()
      const [one, other] = [newStream(), newStream()]
      await Promise.all([fill(log, one, MANY), fill(log, other, MANY)])
      const all = of([one, other], await collect(log.readAll(before)))
      t.equal(all.length, 2 * MANY)
      t.ok(rises(all.map(({ position }) => position)))
      t.same(numbersOf(of([one], all)), upTo(MANY))
      t.same(numbersOf(of([other], all)), upTo(MANY))

      const middle = all[MANY] as RawEvent
      t.same(idsOf(of([one, other], await collect(log.readAll(middle.position)))), idsOf(all.slice(MANY + 1)))
      t.same(await collect(log.readAll(await log.head())), [])
    })

    t.test('a read can start just before an event', async t => {
      const { log } = await open(t)
      const stream = newStream()
      await log.append(stream, numbered(3), NO_STREAM)
      const events = await collect(log.readStream(stream, 0))
      for (const [index, { position }] of events.entries()) {
        t.same(idsOf(of([stream], await collect(log.readAll(position - 1)))), idsOf(events.slice(index)))
        t.same(idsOf(await firstOf(log, position - 1, [stream], 3 - index)), idsOf(events.slice(index)))
      }
    })

    t.test('large events are read back unchanged', async t => {
      const { log } = await open(t)
      const stream = newStream()
      const texts = ['ü🙂'.repeat(100_000), 'x'.repeat(900_000), '\u0000\u001f"\\\n\u2028'.repeat(20_000)]
      const events = texts.map(text => newEvent({ text }))
      for (const [index, event] of events.entries()) await log.append(stream, [event], index - 1)
      const read = await collect(log.readStream(stream, 0))
      t.ok(read.every(({ data }, index) => (data as { text: string }).text === texts[index]))
      t.equal(read.length, texts.length)
    })

    t.test('any JSON is read back unchanged', async t => {
      const { log } = await open(t)
      const stream = newStream()
      const payloads = [
        '{"__proto__":{"admin":true},"constructor":1,"toString":null}',
        '{"":"","a b\\nc":"\\u0000\\u2028","\u00e9":"e\u0301 \u{1f642} \u202e"}',
        '{"10":1,"9":2,"numbers":[0,-1,1e21,1e-7,0.1,9007199254740991],"deep":[[[[{}]]]]}',
      ]
      const events = payloads.map(text => ({ ...newEvent(JSON.parse(text)), metadata: JSON.parse(text) }))
      await log.append(stream, events, NO_STREAM)
      const read = await collect(log.readStream(stream, 0))
      t.same(
        read.map(({ data }) => JSON.stringify(data)),
        events.map(({ data }) => JSON.stringify(data)),
      )
      t.same(
        read.map(({ metadata }) => JSON.stringify(metadata)),
        events.map(({ metadata }) => JSON.stringify(metadata)),
      )
    })

    t.test('a reopened log holds all events, and continues', async t => {
      const { log, reopen } = await open(t)
      const before = await log.head()
      const [long, short] = [newStream(), newStream()]
      await fill(log, long, MANY)
      await log.append(short, numbered(1), NO_STREAM)
      const [all, head] = [of([long, short], await collect(log.readAll(before))), await log.head()]

      const again = await reopen()
      t.same(of([long, short], await collect(again.readAll(before))), all)
      t.same(numbersOf(await collect(again.readStream(long, 0))), upTo(MANY))
      t.ok((await again.head()) >= head)
      await t.rejects(again.append(short, numbered(1), NO_STREAM), RevisionConflict)
      const next = await again.append(short, numbered(1), 0)
      t.equal(next.revision, 1)
      t.ok(next.position > head)
    })

    t.test('a follower catches up, then sees new events, without gaps or duplicates', async t => {
      const { log } = await open(t)
      const before = await log.head()
      const streams = [newStream(), newStream(), newStream()]
      await Promise.all(streams.map(stream => fill(log, stream, 400)))
      const following = firstOf(log, before, streams, 3 * 600)
      // Appended while the follower still reads existing events, and after.
      await Promise.all(streams.map(stream => fill(log, stream, 200, 400)))
      const seen = await following
      t.ok(rises(seen.map(({ position }) => position)))
      for (const stream of streams) t.same(numbersOf(of([stream], seen)), upTo(600))
      t.same(idsOf(seen), idsOf(of(streams, await collect(log.readAll(before)))))
    })

    t.test('several followers can start at different positions', async t => {
      const { log } = await open(t)
      const stream = newStream()
      const first = await log.append(stream, numbered(1), NO_STREAM)
      const followers = [firstOf(log, first.position - 1, [stream], 11), firstOf(log, first.position, [stream], 10)]
      await fill(log, stream, 10, 1)
      t.same((await Promise.all(followers)).map(numbersOf), [upTo(11), upTo(11).slice(1)])
    })

    t.test('a slow follower misses nothing', async t => {
      const { log } = await open(t)
      const stream = newStream()
      const before = await log.head()
      await log.append(stream, numbered(1), NO_STREAM)
      const stop = new AbortController()
      const seen: RawEvent[] = []
      let written = 1
      for await (const page of log.follow(before, stop.signal)) {
        seen.push(...of([stream], page))
        if (seen.length >= 301) stop.abort()
        // More events are appended while the follower holds the page.
        else if (seen.length === written) {
          await fill(log, stream, 100, written)
          written += 100
        }
      }
      t.same(numbersOf(seen), upTo(301))
    })

    for (const way of interruptions)
      t.test(`an interrupted read delivers each event once, in order, or fails: ${way}`, async t => {
        const { log, interrupt } = await open(t)
        const before = await log.head()
        const streams = [newStream(), newStream()] as const
        await Promise.all(streams.map(stream => fill(log, stream, 600)))
        const [all, one] = [of([...streams], await collect(log.readAll(before))), streams[0]]
        const reads = {
          'a stream': [() => log.readStream(one, 0), of([one], all)],
          'all streams': [() => log.readAll(before), all],
        } as const
        for (const [kind, [read, expected]] of Object.entries(reads)) {
          interrupt?.(way)
          const { events, error } = await readUntilItFails(read())
          t.ok(error === undefined || error instanceof Unavailable, `${kind}: ${error}`)
          t.same(idsOf(events), idsOf(expected.slice(0, error ? events.length : expected.length)), kind)
        }

        // A failed follower is resumed after the last event it saw.
        interrupt?.(way)
        const seen: RawEvent[] = []
        for (let attempt = 0; seen.length < all.length + 100 && attempt < 50; attempt++) {
          const from = seen.at(-1)?.position ?? before
          const limit = all.length + 100 - seen.length
          const following = readUntilItFails(log.follow(from, AbortSignal.timeout(PATIENCE_MS)), limit)
          if (attempt === 0) await appendInTheEnd(log, one, numbered(100, 600), 599)
          seen.push(...(await following).events)
        }
        t.same(idsOf(seen), idsOf(of([...streams], await collect(log.readAll(before)))), 'a follower')
      })

    t.test('an aborted follower ends, whether it waits or has just read', async t => {
      const { log } = await open(t)
      const stop = new AbortController()
      const waiting = collect(log.follow(await log.head(), stop.signal))
      stop.abort()
      t.same(await waiting, [])

      const gone = new AbortController()
      gone.abort()
      t.same(await collect(log.follow(await log.head(), gone.signal)), [])

      const busy = new AbortController()
      const before = await log.head()
      await log.append(newStream(), numbered(1), NO_STREAM)
      let pages = 0
      for await (const _ of log.follow(before, busy.signal)) {
        pages += 1
        busy.abort()
      }
      t.equal(pages, 1)
    })
  })

/** Has the name of a Tollgate stream, because logs may skip foreign ones. */
const newStream = () => `account-${crypto.randomUUID()}`

const newEvent = (data: unknown): NewEvent => ({
  id: crypto.randomUUID(),
  type: 'SomethingHappened',
  data,
  metadata: { at: '2026-01-01T00:00:00.000Z' },
})

/** Events that contain their number. */
const numbered = (count: number, from = 0): NewEvent[] =>
  Array.from({ length: count }, (_, index) => newEvent({ number: from + index }))

/** Appends numbered events by the hundred. The stream must already hold as many events as the first number. */
const fill = async (log: EventLog, stream: string, count: number, from = 0) => {
  for (let number = from; number < from + count; number += 100)
    await log.append(stream, numbered(Math.min(100, from + count - number), number), number - 1)
}

/** Retries an append until its events are known to be there. */
const appendInTheEnd = async (log: EventLog, stream: string, events: NewEvent[], expectedRevision: number) => {
  for (let isThere = false; !isThere; )
    isThere = await log.append(stream, events, expectedRevision).then(
      () => true,
      error => error instanceof RevisionConflict,
    )
}

/** The first events of some streams that a follower sees. */
const firstOf = async (log: EventLog, after: number, streams: string[], count: number): Promise<RawEvent[]> => {
  const seen: RawEvent[] = []
  for await (const page of log.follow(after, AbortSignal.timeout(PATIENCE_MS))) {
    seen.push(...of(streams, page))
    if (seen.length >= count) break
  }
  return seen
}

/** Collects events until the read ends, fails or has delivered enough. */
const readUntilItFails = async (
  pages: AsyncIterable<RawEvent[]>,
  enough = Number.POSITIVE_INFINITY,
): Promise<{ events: RawEvent[]; error?: unknown }> => {
  const events: RawEvent[] = []
  try {
    for await (const page of pages) {
      events.push(...page)
      if (events.length >= enough) break
    }
    return { events }
  } catch (error) {
    return { events, error }
  }
}

const of = (streams: string[], events: RawEvent[]) => events.filter(({ stream }) => streams.includes(stream))
const idsOf = (events: { id: string }[]) => events.map(({ id }) => id)
const numbersOf = (events: RawEvent[]) => events.map(({ data }) => (data as { number: number }).number)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
const rises = (numbers: number[]) =>
  numbers.every((number, index) => index === 0 || number > (numbers[index - 1] as number))
