import type { RawEvent } from '../../schemas/recorded.ts'
import { ledgerEvents } from './ledger-events.ts'
import { linked } from './linked.ts'

/** A movement of each kind, with runs that have receipts. The account ends with 93 credits. */
export const everyKind = (): RawEvent[] => {
  const { events, grant, debit, refund, reserve, release, withdraw } = ledgerEvents()
  grant({ micros: 4_000_000, reference: 'sign-up', reason: 'welcome', at: '2026-10-25T00:30:00.000Z' })
  const payment = { amount: '25.00', currency: 'EUR', invoice: '2026-17', tax: '3.99' }
  grant({ micros: 100_000_000, kind: 'purchase', reference: 'invoice 1', reason: 'paid by card', payment, at: LATER })
  debit({ at: LATER })
  refund({ micros: 2_000_000, reason: 'a gift', at: LATER })
  withdraw({ micros: 2_000_000, kind: 'purchase', reference: 'mistake', reason: 'typed wrong', at: LATER })
  reserve({ run: 2, at: LATER })
  release({ run: 2, at: LATER })
  return linked(events)
}

/** In Berlin, both this and the time of the first grant are half past two on 25 October. */
const LATER = '2026-10-25T01:30:00.000Z'

/** A grant for each of some reasons. */
export const reasons = (texts: string[], email?: string): RawEvent[] => {
  const { events, grant } = ledgerEvents()
  for (const [index, reason] of texts.entries()) grant({ micros: 1_000_000, reference: `r${index}`, reason })
  return linked(events, email === undefined ? {} : { email })
}
