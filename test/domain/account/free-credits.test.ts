import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { RecordedEvent } from '../../../schemas/events.ts'
import { AccountBook, totalOf } from '../../../src/audit/books.ts'
import { account } from '../../../src/domain/account/account.ts'
import { creditSplit } from '../../../src/domain/account/free-credits.ts'
import type { AccountState } from '../../../src/domain/account/state.ts'
import { fromMicros } from '../../../src/domain/money.ts'
import { accountSnapshots } from '../../../src/services/accounts/account-mailboxes.ts'
import {
  completed,
  debited,
  debitFacts,
  failed,
  granted,
  queued,
  receipt,
  refunded,
  runId,
  withdrawn,
} from '../../support/account-samples.ts'
import { at, THEN_MS } from '../../support/given.ts'

/** An account whose events are taken by its state and by the books of the audit. */
class World {
  state: AccountState = account.initial
  readonly book = new AccountBook()
  /** What is left of the charge of each run. */
  readonly left = new Map<number, number>()
  readonly open = new Set<number>()
  runs = 0

  get balance() {
    return fromMicros(this.state.balanceMicros)
  }

  take(event: AccountEvent) {
    this.state = account.evolve(this.state, at(THEN_MS, event))
    const recorded = { ...event, id: '', stream: 'account-x', revision: 0, position: 0n, metadata: { actor: {} } }
    this.book.take(recorded as unknown as RecordedEvent)
  }

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

const step = fc.record({
  kind: fc.constantFrom(
    'buy',
    'give',
    'takeBack',
    'correct',
    'run',
    'run',
    'run',
    'complete',
    'release',
    'fail',
    'refund',
  ),
  credits: fc.integer({ min: 1, max: 20 }),
  number: fc.nat(1000),
})

const follow = (world: World, { kind, credits, number }: { kind: string; credits: number; number: number }) => {
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

t.test('the free part of a balance is that of the books of the audit, after every history', async () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), steps => {
      const world = new World()
      return steps.every(each => {
        follow(world, each)
        return isDeepStrictEqual(creditSplit(world.state), world.book.balance)
      })
    }),
    { numRuns: 300 },
  )
})

t.test('a snapshot keeps the free part and the runs that used it', async t => {
  const world = new World()
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
    const world = new World()
    world.grant(20_000, 'courtesy')
    const first = world.run(1)
    world.complete(first)
    const second = world.run(1)
    world.complete(second)
    const open = world.run(1)
    for (let count = 0; count < 10_001; count++) world.complete(world.run(1))
    t.equal(world.state.creditUses.size, 10_000)
    world.refund(first, 1)
    t.same(creditSplit(world.state), world.book.balance, 'an account that bought nothing has only free credits')
    world.grant(50, 'purchase')
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
