import fc from 'fast-check'
import t from 'tap'
import type { AuditedEvent } from '../../../src/audit/fault.ts'
import { Notices } from '../../../src/audit/verify/notices.ts'
import { TopUps } from '../../../src/audit/verify/top-ups.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { Auditor } from '../../auditor/auditor.ts'
import { World } from '../../support/account-world.ts'
import { forgedTopUps, topUpHistory } from '../../support/forged-top-ups.ts'
import {
  failTopUp as fail,
  openPurchase,
  openTopUp,
  payPurchase,
  purchaseId,
  recordDispute,
  setTopUp,
} from '../../support/purchase-samples.ts'

const faultsOf = (events: readonly AuditedEvent[]): string[] => {
  const rules = [new TopUps(), new Notices()]
  const faults: string[] = []
  for (const event of events) for (const rule of rules) rule.take(event, what => faults.push(what))
  return faults
}

const countOf = (wanted: string) => topUpHistory.filter(({ type }) => type === wanted).length

t.test('a history that the account decides has no faults', async t => {
  t.same(faultsOf(topUpHistory), [])
  t.equal(countOf('TopUpSettled'), 5)
  t.equal(countOf('TopUpDue'), 6)
})

t.test('neither has one in which the account is suspended, owes credits, or fails three times', async t => {
  const other = new World(openPurchase({ keepsMethod: true }), payPurchase(), setTopUp())
  other.run(1, 450)
  for (const command of [openTopUp(2), fail(2)]) other.do(command)
  other.do({ type: 'SuspendAccount', reason: 'abuse' })
  other.do(recordDispute())
  other.days = 1
  t.same(other.do(openTopUp(3)), ['TopUpSettled'])
  other.do(payPurchase({ purchase: 2 }))
  other.do({ type: 'ResumeAccount', reason: 'paid' })
  other.run(2, 20)
  for (const number of [4, 5]) {
    other.days += 2
    for (const command of [openTopUp(number), fail(number)]) other.do(command)
  }
  t.equal(other.events.at(-2)?.type, 'TopUpRemoved')
  const history = other.appends.flat() as unknown as AuditedEvent[]
  t.same(faultsOf(history), [])
  const withoutIt = history.slice(0, -1)
  const next = { ...(history[0] as AuditedEvent), type: 'NoticesSet' }
  t.match(faultsOf([...withoutIt, next]), [/not the notice of top_up_stopped/])
  const forged = {
    ...(history.at(-1) as AuditedEvent),
    data: { number: 1, notice: { kind: 'top_up_stopped', code: 'x' }, to: {} },
  }
  t.match(faultsOf([...withoutIt, forged]), [/not that of .*insufficient_funds/])
})

const number = fc.integer({ min: 2, max: 9 })
const credits = fc.constantFrom(30, 200, 700)

type Make = (world: World) => AccountCommand

const make = (of: Make) => fc.constant(of)

const command: fc.Arbitrary<Make> = fc.oneof(
  fc
    .record({ under: credits, credits, monthlyAmount: fc.constantFrom('60.00', '120.00') })
    .map(settings => () => setTopUp(settings)),
  { weight: 2, arbitrary: number.map(purchase => () => openTopUp(purchase)) },
  // Often enough that three follow each other.
  { weight: 4, arbitrary: make(({ state }) => fail(numberOf(state))) },
  make(({ state }) => payPurchase({ purchase: numberOf(state) ?? 1 })),
  number.map(purchase => () => payPurchase({ purchase })),
  make(({ state: { topUp } }) => ({ type: 'EndTopUp', purchaseId: topUp?.purchaseId ?? purchaseId() })),
  number.map(purchase => () => recordDispute({ purchase, claim: `dp_${purchase}` })),
  make(() => ({ type: 'RemoveTopUp' })),
  make(() => ({ type: 'SuspendAccount', reason: 'abuse' })),
  make(() => ({ type: 'ResumeAccount', reason: 'paid' })),
)

const numberOf = ({ topUp }: World['state']) =>
  topUp?.purchaseId === undefined ? undefined : Number(topUp.purchaseId.slice('pur_'.length))

t.test('no commands in any order make a fault', async t => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(0, 0, 0.05, 1, 20), credits, command), { maxLength: 60, size: 'max' }),
      steps => {
        const world = new World(openPurchase({ keepsMethod: true }), payPurchase(), setTopUp())
        for (const [index, [days, credits, command]] of steps.entries()) {
          world.days += days
          world.do(command(world))
          world.run(index, credits)
        }
        for (const { type, data } of world.events) seen.add('outcome' in data ? `${type} ${data.outcome}` : type)
        const auditor = new Auditor('account-x')
        for (const append of world.appends) auditor.follow(append)
        return auditor.faults.length + faultsOf(world.appends.flat() as unknown as AuditedEvent[]).length === 0
      },
    ),
    { numRuns: 300 },
  )
  for (const type of ['TopUpSettled paid', 'TopUpSettled failed', 'TopUpSettled unneeded', 'NoticeRaised'])
    t.ok(seen.has(type), type)
})

for (const [name, [what, events]] of Object.entries(forgedTopUps))
  t.test(`${name} is a fault`, async t => {
    const found = faultsOf(events)
    t.ok(
      found.some(fault => what.test(fault)),
      String(found),
    )
  })
