import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { AuditedEvent } from '../../../src/audit/fault.ts'
import { Lots } from '../../../src/audit/verify/lots.ts'
import {
  accepted,
  completed,
  expired,
  failed,
  granted,
  opened,
  refunded,
  started,
  withdrawn,
} from '../../support/account-samples.ts'
import { at, THEN_MS } from '../../support/given.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const inDays = (days: number) => new Date(THEN_MS + days * DAY_MS).toISOString()

/** The faults of a history, of which each event may say after how many days it happened. */
const faultsOf = (...history: (AccountEvent | [days: number, AccountEvent])[]): string[] => {
  const lots = new Lots()
  const faults: string[] = []
  for (const each of history) {
    const [days, event] = Array.isArray(each) ? each : [0, each]
    lots.take(at(THEN_MS + days * DAY_MS, event) as unknown as AuditedEvent, what => faults.push(what))
  }
  return faults
}

const begun = [
  opened(),
  granted(20, { lot: 1, expiresAt: inDays(30) }),
  granted(10, { after: 30, reference: 'b', lot: 2 }),
]
const run = accepted({ credits: 25, after: 5 })
const extended = (expiresAt?: string): AccountEvent => ({
  type: 'LotExtended',
  data: { lot: 1, ...(expiresAt !== undefined && { expiresAt }), reason: 'a fault' },
})
const told = (days: number, credits = 20): AccountEvent => ({
  type: 'NoticeRaised',
  data: {
    number: 1,
    notice: { kind: 'credits_expiring', lot: 1, amountMicros: credits * 1e6, expiresAt: inDays(30), days },
    to: {},
  },
})

t.test('a history by the rules has no faults', async t => {
  t.same(faultsOf(...begun, told(30), [24, told(7)], [30, expired(1, 20, { after: 10 })]), [])
  t.same(
    faultsOf(...begun, ...run, started(), [31, expired(1, 0, { after: 5 })], failed(), refunded(25, { after: 30 })),
    [],
  )
  const refund = refunded(7, {
    after: 12,
    reason: 'no',
    lots: [
      [2, 5],
      [1, 2],
    ],
  })
  t.same(faultsOf(...begun, ...run, started(), completed(), refund), [])
  t.same(
    faultsOf(...begun, withdrawn(10, { after: 20, lot: 2 }), granted(4, { after: 24, reference: 'c', lot: 2 })),
    [],
  )
  t.same(
    faultsOf(opened(), granted(20), ...accepted({ credits: 5, after: 15 }), completed(), refunded(5, { after: 20 })),
    [],
  )
})

const faults: Record<string, [RegExp, string[]]> = {
  'an end before its time': [/lot 1 expires at/, faultsOf(...begun, [29, expired(1, 20, { after: 10 })])],
  'an end of a lot that has none': [/lot 2 never expires/, faultsOf(...begun, [99, expired(2, 10, { after: 20 })])],
  'an end with other credits': [/has 20000000 left/, faultsOf(...begun, [30, expired(1, 19, { after: 11 })])],
  'a second end': [
    /has expired before/,
    faultsOf(...begun, [30, expired(1, 20, { after: 10 })], [31, expired(1, 0, { after: 10 })]),
  ],
  'an end of no lot': [/there is no lot 7/, faultsOf(...begun, [30, expired(7, 1, { after: 29 })])],
  'an earlier end': [/would not end later/, faultsOf(...begun, extended(inDays(29)))],
  'a later end of a lot that has ended': [
    /has expired before/,
    faultsOf(...begun, [30, expired(1, 20, { after: 10 })], [31, extended(inDays(60))]),
  ],
  'a lot with a wrong number': [/it is lot 4, and the next lot is 3/, faultsOf(...begun, granted(1, { lot: 4 }))],
  'credits that return to a lot of another kind': [
    /lot 1 is of another kind/,
    faultsOf(...begun, granted(1, { lot: 1, kind: 'purchase' })),
  ],
  'a withdrawal of more than its lot has': [
    /more credits are used/,
    faultsOf(...begun, withdrawn(11, { after: 19, lot: 2 })),
  ],
  'a refund to other lots than the run used last': [
    /gives back .*lot 1, and the run used .*lot 2 last/,
    faultsOf(...begun, ...run, started(), failed(), refunded(5, { after: 10, lots: [[1, 5]] })),
  ],
  'a refund of an ended run that names no lots': [
    /does not say which lots/,
    faultsOf(...begun, ...run, started(), completed(), refunded(5, { after: 10, reason: 'no' })),
  ],
  'a refund whose lots do not add up': [
    /gives 4000000 of 5000000 back/,
    faultsOf(...begun, ...run, started(), completed(), refunded(5, { after: 10, reason: 'no', lots: [[2, 4]] })),
  ],
  'a notice of other credits': [/has 20000000 left/, faultsOf(...begun, told(30, 3))],
  'a notice too early': [/lot 1 expires at/, faultsOf(...begun, told(7))],
  'a notice twice': [/already notified/, faultsOf(...begun, told(30), [1, told(30)])],
}

for (const [name, [what, found]] of Object.entries(faults))
  t.test(`${name} is a fault`, async t => {
    t.equal(found.length, 1)
    t.match(found[0], what)
  })
