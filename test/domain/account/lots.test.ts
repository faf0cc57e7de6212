import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import type { AccountEvent, LotUse } from '../../../schemas/account-events.ts'
import type { RecordedEvent } from '../../../schemas/events.ts'
import { AccountBook, totalOf } from '../../../src/audit/books.ts'
import { account } from '../../../src/domain/account/account.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { creditSplit, nextExpiry, partGivenBack, usesOf, usesWithout } from '../../../src/domain/account/lots.ts'
import { DAY_MS } from '../../../src/domain/days.ts'
import { fromMicros, toMicros } from '../../../src/domain/money.ts'
import { accountSnapshots } from '../../../src/services/accounts/account-mailboxes.ts'
import {
  accepted,
  completed,
  completeRun,
  debited,
  debitFacts,
  expired,
  failed,
  failRun,
  grantCredits,
  granted,
  openAccount,
  opened,
  queued,
  queueRun,
  receipt,
  refunded,
  runId,
  started,
  startRun,
  withdrawCredits,
  withdrawn,
} from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const inDays = (days: number) => new Date(THEN_MS + days * DAY_MS).toISOString()

t.test('runs use the credits that expire first, free before paid, and the oldest first', async t => {
  const lot = (number: number, credits: number, rest: object = {}) =>
    granted(credits, { after: number * 10, reference: `${number}`, lot: number, ...rest })
  const history = [
    lot(1, 10, { kind: 'purchase' }),
    lot(2, 10),
    lot(3, 10, { kind: 'purchase', expiresAt: inDays(30) }),
    lot(4, 10, { expiresAt: inDays(30) }),
    lot(5, 10, { expiresAt: inDays(60) }),
    lot(6, 10, { kind: 'purchase', expiresAt: inDays(30) }),
  ]
  const { state } = given(account, opened(), ...history)
  t.same(state.lotOrder, [4, 3, 6, 5, 2, 1])
  t.same(nextExpiry(state), { expiresAt: inDays(30), amountMicros: 30e6 })
  const { state: used } = given(account, opened(), ...history, debited(25, { after: 35 }))
  t.same(usesOf(used, runId()), [
    { lot: 4, amountMicros: 10e6 },
    { lot: 3, amountMicros: 10e6 },
    { lot: 6, amountMicros: 5e6 },
  ])
  t.same(used.lotOrder, [6, 5, 2, 1])
})

const expiring = granted(20, { lot: 1, expiresAt: inDays(30) })

t.test('a lot ends at its time, once, with what is left of it', async () => {
  const lot = given(account, opened(), expiring, ...accepted({ credits: 15, after: 5 }))
  lot.when({ type: 'ExpireCredits', lot: 1 }, THEN_MS + 30 * DAY_MS).then(expired(1, 5, { after: 0 }))
  const ended = given(account, opened(), expiring, ...accepted({ credits: 15, after: 5 }), expired(1, 5, { after: 0 }))
  ended.when({ type: 'ExpireCredits', lot: 1 }, THEN_MS + 31 * DAY_MS).refused('lot_not_due')
  given(account, opened(), granted(1)).when({ type: 'ExpireCredits', lot: 1 }).refused('lot_not_due')
  given(account, opened(), granted(1)).when({ type: 'ExpireCredits', lot: 2 }).refused('lot_not_due')
})

t.test('credits that come back to a lot after its end expire in the same append', async () => {
  const history = [opened(), expiring, ...accepted({ credits: 15, after: 5 }), started(), expired(1, 5, { after: 0 })]
  given(account, ...history)
    .when(failRun(), THEN_MS + 31 * DAY_MS)
    .then(failed(), refunded(15, { after: 15 }), expired(1, 15, { after: 0 }))
  given(account, ...history, failed(), refunded(15, { after: 15 }), expired(1, 15, { after: 0 }))
    .when(queueRun({ run: 2 }))
    .refused('insufficient_credits', { requiredMicros: 10e6, balanceMicros: 0 })
})

t.test('a lot can be put off until it has expired, and never ends earlier', async () => {
  const extend = (expiresAt?: string, lot = 1) => ({ type: 'ExtendLot', lot, expiresAt, reason: 'a fault' }) as const
  const lot = given(account, opened(), expiring)
  const extended = (expiresAt?: string): AccountEvent => ({
    type: 'LotExtended',
    data: { lot: 1, ...(expiresAt !== undefined && { expiresAt }), reason: 'a fault' },
  })
  lot.when(extend(inDays(31))).then(extended(inDays(31)))
  lot.when(extend()).then(extended())
  lot.when(extend(inDays(30))).then()
  lot.when(extend(inDays(29))).refused('lot_not_extended', { expiresAt: inDays(30) })
  lot.when(extend(inDays(31), 2)).refused('lot_not_found', { lots: 1 })
  given(account, opened(), expiring, extended())
    .when(extend(inDays(90)))
    .refused('lot_not_extended', { expiresAt: undefined })
  given(account, opened(), expiring, expired(1, 20, { after: 0 }))
    .when(extend(inDays(90)))
    .refused('lot_expired')
  given(account, opened(), expiring, extended(inDays(90)))
    .when({ type: 'ExpireCredits', lot: 1 }, THEN_MS + 30 * DAY_MS)
    .refused('lot_not_due')
})

t.test('the owner gets notices 30, 7 and 1 days before credits expire, each once', async t => {
  const notices = { email: true, balanceUnderMicros: 0 }
  const open = { ...opened().data, notices } as never
  let { state } = given(account, { type: 'AccountOpened', data: open }, granted(20, { lot: 1, expiresAt: inDays(60) }))
  const told: [number, unknown][] = []
  for (let day = 0; day <= 61; day += 0.5) {
    const atMs = THEN_MS + day * DAY_MS
    const decided = account.decide({ type: 'ExpireCredits', lot: 1 }, state, atMs)
    if ('refuse' in decided) continue
    for (const event of decided.accept) {
      told.push([day, event.type === 'NoticeRaised' ? (event.data.notice as { days: number }).days : event.type])
      state = account.evolve(state, at(atMs, event))
    }
  }
  t.same(told, [
    [30, 30],
    [53, 7],
    [59, 1],
    [60, 'CreditsExpired'],
  ])
})

/** An account whose events are taken by its state and by the books of the audit. */
class World {
  state = account.initial
  readonly book = new AccountBook()
  /** What is left of the charge of each run. */
  readonly left = new Map<number, number>()
  /** What each run has used and not got back. */
  readonly uses = new Map<number, readonly LotUse[]>()
  readonly open = new Set<number>()
  runs = 0
  days = 0
  #revision = 0

  get balance() {
    return fromMicros(this.state.balanceMicros)
  }

  take(event: AccountEvent) {
    this.state = account.evolve(this.state, at(THEN_MS + this.days * DAY_MS, event))
    const metadata = { at: inDays(this.days), actor: {} }
    const recorded = { ...event, id: '', stream: 'account-x', revision: this.#revision++, position: 0, metadata }
    this.book.take(recorded as unknown as RecordedEvent)
    for (const run of this.left.keys()) {
      const uses = usesOf(this.state, runId(run))
      if (uses) this.uses.set(run, uses)
    }
  }

  /** Takes what the account decides. */
  do(command: AccountCommand): boolean {
    const decided = account.decide(command, this.state, THEN_MS + this.days * DAY_MS)
    if ('refuse' in decided) return false
    for (const event of decided.accept) this.take(event)
    return true
  }

  lots() {
    return this.state.lots.toArray().map(({ leftMicros, isPaid }) => ({ leftMicros, isPaid }))
  }

  bookedLots() {
    return this.book.lots.map(({ leftMicros, isPaid }) => ({ leftMicros, isPaid }))
  }
}

/** A history whose events do not say the numbers of lots. */
class OldWorld extends World {
  grant(credits: number, kind: 'purchase' | 'courtesy') {
    this.take(granted(credits, { after: this.balance + credits, kind, reference: `${this.state.references.size}` }))
  }

  withdraw(credits: number, kind: 'purchase' | 'correction') {
    this.take(withdrawn(credits, { after: this.balance - credits, kind, reference: `${this.state.references.size}` }))
  }

  run(credits: number): number {
    const run = ++this.runs
    this.take(debited(credits, { run, after: this.balance - credits }))
    this.take(queued({ run }))
    this.left.set(run, credits)
    this.open.add(run)
    return run
  }

  release(run: number, credits: number) {
    const data = { runId: runId(run), amountMicros: credits * 1e6, receipt: receipt(), debit: debitFacts }
    this.take({ type: 'CreditsReleased', data: { ...data, balanceAfterMicros: (this.balance + credits) * 1e6 } })
    this.left.set(run, (this.left.get(run) ?? 0) - credits)
    this.complete(run)
  }

  complete(run: number) {
    this.take(completed(run))
    this.open.delete(run)
  }

  refund(run: number, credits: number) {
    this.take(refunded(credits, { run, after: this.balance + credits }))
    this.left.set(run, (this.left.get(run) ?? 0) - credits)
  }

  fail(run: number) {
    this.take(failed(run))
    this.open.delete(run)
    this.refund(run, this.left.get(run) ?? 0)
  }
}

const pick = <Item>(items: Iterable<Item>, number: number): Item | undefined => {
  const all = [...items]
  return all[number % Math.max(1, all.length)]
}

const stepOf = (...kinds: string[]) =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    credits: fc.integer({ min: 1, max: 20 }),
    number: fc.nat(1000),
  })

interface Step {
  kind: string
  credits: number
  number: number
}

const followOld = (world: OldWorld, { kind, credits, number }: Step) => {
  const open = pick(world.open, number)
  const ended = pick(
    [...world.left].filter(([run, left]) => left > 0 && !world.open.has(run)).map(([run]) => run),
    number,
  )
  const most = Math.min(credits, world.balance)
  if (kind === 'buy') world.grant(credits, 'purchase')
  else if (kind === 'give') world.grant(credits, 'courtesy')
  else if (kind === 'takeBack' && most > 0) world.withdraw(most, 'purchase')
  else if (kind === 'correct' && most > 0) world.withdraw(most, 'correction')
  else if (kind === 'run' && most > 0) world.run(most)
  else if (kind === 'complete' && open) world.complete(open)
  else if (kind === 'release' && open) world.release(open, Math.ceil((world.left.get(open) ?? 0) / 2))
  else if (kind === 'fail' && open) world.fail(open)
  else if (kind === 'refund' && ended) world.refund(ended, Math.min(credits, world.left.get(ended) ?? 0))
}

const OLD = ['buy', 'give', 'takeBack', 'correct', 'run', 'run', 'run', 'complete', 'release', 'fail', 'refund']

t.test('the lots are those of the books of the audit, after every history of an old log', async () => {
  fc.assert(
    fc.property(fc.array(stepOf(...OLD), { maxLength: 120, size: 'max' }), steps => {
      const world = new OldWorld()
      return steps.every(each => {
        followOld(world, each)
        return (
          isDeepStrictEqual(creditSplit(world.state), world.book.balance) &&
          isDeepStrictEqual(world.lots(), world.bookedLots())
        )
      })
    }),
    { numRuns: 300 },
  )
})

const follow = (world: World, { kind, credits, number }: Step): boolean => {
  const reference = `${world.state.references.size}`
  const open = pick(world.open, number)
  if (kind === 'wait') world.days += credits
  if (kind === 'buy' || kind === 'give') {
    const expiresAt = number % 3 === 0 ? undefined : inDays(world.days + (number % 50))
    return world.do({ ...grantCredits(credits, reference), kind: kind === 'buy' ? 'purchase' : 'courtesy', expiresAt })
  }
  if (kind === 'takeBack') return world.do({ ...withdrawCredits(credits, reference), kind: 'purchase' })
  if (kind === 'correct') return world.do(withdrawCredits(credits, reference))
  if (kind === 'extend')
    return world.do({
      type: 'ExtendLot',
      lot: 1 + (number % 5),
      reason: 'a fault',
      expiresAt: credits > 15 ? undefined : inDays(world.days + 10 * credits),
    })
  if (kind === 'run') {
    const run = world.runs + 1
    if (!world.do(queueRun({ run, credits }))) return false
    world.runs = run
    world.left.set(run, credits)
    world.uses.set(run, usesOf(world.state, runId(run)) ?? [])
    world.open.add(run)
    return world.do(startRun(run))
  }
  if (kind === 'expire')
    return world.state.lots.toArray().some((_, index) => world.do({ type: 'ExpireCredits', lot: index + 1 }))
  if (kind === 'complete' && open) return world.open.delete(open) && world.do(completeRun(open))
  if (kind === 'fail' && open) return world.open.delete(open) && world.left.delete(open) && world.do(failRun(open))
  const ended = pick(
    [...world.left.keys()].filter(run => !world.open.has(run)),
    number,
  )
  if (kind !== 'refund' || ended === undefined) return false
  const charged = world.left.get(ended) ?? 0
  const amount = Math.min(credits, charged)
  const uses = world.uses.get(ended) ?? []
  if (amount === 0) return false
  const refunds = world.state.refunds
  const amounts = { amountMicros: toMicros(amount), chargedMicros: toMicros(charged), refundedMicros: 0 }
  if (!world.do({ type: 'RefundRun', runId: runId(ended), ...amounts, uses, debit: debitFacts, refunds, reason: 'no' }))
    return false
  const given = partGivenBack(uses, amounts.amountMicros)
  world.uses.set(ended, usesWithout(uses, given))
  world.left.set(ended, charged - amount)
  return true
}

const KINDS = [
  'buy',
  'give',
  'takeBack',
  'correct',
  'run',
  'run',
  'complete',
  'fail',
  'refund',
  'wait',
  'expire',
  'extend',
]

t.test('the lots are those of the books of the audit, after every history with ends of lots', async t => {
  let expiries = 0
  fc.assert(
    fc.property(fc.array(stepOf(...KINDS), { maxLength: 120, size: 'max' }), steps => {
      const world = new World()
      world.do(openAccount({ welcome: 20 }))
      return steps.every(each => {
        if (follow(world, each) && each.kind === 'expire') expiries += 1
        return (
          isDeepStrictEqual(creditSplit(world.state), world.book.balance) &&
          isDeepStrictEqual(world.lots(), world.bookedLots()) &&
          totalOf(world.book.balance) === world.state.balanceMicros
        )
      })
    }),
    { numRuns: 300 },
  )
  t.ok(expiries > 100)
})

t.test('a snapshot keeps the lots and what runs have used of them', async t => {
  const world = new OldWorld()
  world.grant(5, 'courtesy')
  world.grant(10, 'purchase')
  const run = world.run(8)
  const frozen = JSON.parse(JSON.stringify(accountSnapshots.freeze(world.state)))
  world.state = accountSnapshots.thaw(frozen)
  world.refund(run, 4)
  t.same(creditSplit(world.state), { freeMicros: 1e6, paidMicros: 10e6 })
  t.same(creditSplit(world.state), world.book.balance)
})

t.test(
  'a refund of a run that is no longer remembered makes the split unknown until the balance is used up',
  async t => {
    const world = new OldWorld()
    world.grant(20_000, 'courtesy')
    const first = world.run(1)
    world.complete(first)
    const second = world.run(1)
    world.complete(second)
    const open = world.run(1)
    world.left.clear()
    for (let count = 0; count < 10_001; count++) {
      world.complete(world.run(1))
      world.left.clear()
    }
    t.equal(world.state.endedUses.size, 10_000)
    world.refund(first, 1)
    t.same(creditSplit(world.state), world.book.balance, 'an account that bought nothing has only free credits')
    world.grant(50, 'purchase')
    world.left.set(open, 1)
    world.fail(open)
    t.same(creditSplit(world.state), world.book.balance, 'a run in progress is remembered')
    world.fail(world.run(world.balance))
    t.same(creditSplit(world.state), world.book.balance)
    world.refund(second, 1)
    t.equal(creditSplit(world.state), undefined)
    const unknown = world.run(world.balance)
    t.same(creditSplit(world.state), { freeMicros: 0, paidMicros: 0 }, 'nothing is left')
    world.grant(3, 'courtesy')
    t.same(creditSplit(world.state), world.book.balance)
    world.fail(unknown)
    t.equal(creditSplit(world.state), undefined, 'the run came from an unknown split')
    t.equal(totalOf(world.book.balance), world.state.balanceMicros)
  },
)
