import t from 'tap'
import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { findSeal } from '../../../src/services/ledger/periods.ts'
import { digest } from '../../support/account-samples.ts'
import { logOf } from '../../support/log-of.ts'

const texts = { root: digest('a'), earlier: digest('b'), previous: digest('c') }
const signed = { keyId: 'k'.repeat(43), signature: 's'.repeat(86) }

/** A seal at a position of the log, which covers the events up to another one, and was made on a day of December. */
const seal = (at: number, upTo: number, day: number): RawEvent => {
  const time = `2026-12-0${day}T00:00:00.000Z`
  return {
    ...{ id: crypto.randomUUID(), stream: SEALS_STREAM, revision: at, position: at, type: 'LogSealed' },
    data: { number: at, events: upTo + 1, streams: 1, position: upTo, at: time, ...texts, ...signed },
    metadata: { format: 2, at: time, actor: { kind: 'service' }, hash: digest(String(at % 10)) },
  }
}

const find = (...seals: RawEvent[]) =>
  findSeal(logOf(seals), { after: 10, notBeforeMs: Date.parse('2026-12-02T00:00:00.000Z') })

t.test('a seal covers the event, also if another one that was begun before it comes first', async t => {
  t.match(await find(seal(11, 9, 3), seal(12, 10, 3), seal(13, 11, 3)), { number: 12, events: 11, link: digest('2') })
  t.equal(await find(seal(11, 9, 3)), undefined)
})

t.test('a seal from before the event is of no use, wherever the position that it names is from', async t => {
  t.equal(await find(seal(9, 5000, 3)), undefined)
})

t.test('a seal that was made late enough is preferred', async t => {
  t.match(await find(seal(11, 10, 1), seal(12, 11, 2), seal(13, 12, 3)), { number: 12 })
  t.match(await find(seal(11, 10, 1), seal(12, 11, 1)), { number: 12, at: '2026-12-01T00:00:00.000Z' })
})
