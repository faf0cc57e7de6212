import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { accountStream } from '../../../schemas/events.ts'
import { systemRandom } from '../../../src/adapters/random/system.ts'
import { account } from '../../../src/domain/account/account.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { toMicros } from '../../../src/domain/money.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { AccountMailboxes } from '../../../src/services/accounts/account-mailboxes.ts'
import { newAccountId } from '../../../src/services/ids.ts'
import { type AuditedEvent, Auditor } from '../../auditor/auditor.ts'
import {
  accountId,
  cancelRun,
  completeRun,
  createKey,
  digest,
  failRun,
  grantCredits,
  grantUpload,
  openAccount,
  queueRun,
  recordDelivered,
  recordOutputDeletion,
  recordTest,
  recordUndelivered,
  recordUploadDeletion,
  requestTest,
  requestUploadDeletion,
  revokeKey,
  rotateSecret,
  startRun,
  storeUpload,
  submitRun,
  withdrawCredits,
} from '../../support/account-samples.ts'
import { collect } from '../../support/collect.ts'
import { accountsOn, openLog } from '../../support/engine.ts'
import { at } from '../../support/given.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { setNotices } from '../../support/notice-samples.ts'

const HOUR_MS = 60 * 60 * 1000

/** A random command, and the hours that pass before it. Runs are numbered in the order of their requests. */
interface Step {
  hours: number
  command(run: { next: number }): AccountCommand
}

const choice = fc.nat({ max: 1000 })
const credits = fc.integer({ min: 1, max: 40 })
/** Any run requested so far, and occasionally an unknown one. */
const anyRun = (pick: number, next: number) => 1 + (pick % next)

const command: fc.Arbitrary<Step['command']> = fc.oneof(
  { weight: 2, arbitrary: credits.map(amount => () => grantCredits(amount)) },
  { weight: 1, arbitrary: fc.nat({ max: 3 }).map(key => () => createKey(key)) },
  {
    weight: 1,
    arbitrary: fc
      .record({ email: fc.boolean(), balanceUnderMicros: fc.constantFrom(0, 10_000_000, 25_000_000) })
      .map(settings => () => setNotices(settings)),
  },
  { weight: 1, arbitrary: fc.nat({ max: 3 }).map(key => () => revokeKey(key)) },
  {
    weight: 2,
    arbitrary: fc
      .record({
        credits,
        reference: fc.constantFrom('a', 'b', 'c'),
        moves: fc.constantFrom(grantCredits, withdrawCredits),
      })
      .map(
        ({ credits, reference, moves }): Step['command'] =>
          () =>
            moves(credits, reference),
      ),
  },
  {
    weight: 8,
    arbitrary: fc
      .record({
        credits,
        key: fc.constantFrom(undefined, 'a', 'b', 'c'),
        hash: fc.constantFrom(digest('a'), digest('a'), digest('b')),
        startNow: fc.boolean(),
        webhook: fc.boolean(),
      })
      .map(
        (options): Step['command'] =>
          ({ next }) =>
            queueRun({ ...options, run: next }),
      ),
  },
  ...[startRun, submitRun, cancelRun, completeRun, failRun].map(step => ({
    weight: 3,
    arbitrary: choice.map(
      (pick): Step['command'] =>
        ({ next }) =>
          step(anyRun(pick, next)),
    ),
  })),
)

// The attempt numbers are random, so some are right and many wrong.
const delivery: fc.Arbitrary<Step['command']> = fc
  .record({ pick: choice, attempt: fc.integer({ min: 1, max: 3 }), end: fc.constantFrom('delivered', 'again', 'last') })
  .map(({ pick, attempt, end }): Step['command'] => ({ next }) => {
    const run = anyRun(pick, next)
    if (end === 'delivered') return recordDelivered(attempt, run)
    return recordUndelivered(attempt, { run, ...(end === 'again' && { next: '2026-01-02T00:00:00.000Z' }) })
  })

// Only three uploads, so each gets both valid and invalid commands.
const upload: fc.Arbitrary<Step['command']> = fc
  .record({
    number: fc.integer({ min: 1, max: 3 }),
    step: fc.constantFrom('grant', 'grant', 'store', 'seal', 'request', 'record', 'output'),
    pick: choice,
  })
  .map(({ number, step, pick }): Step['command'] => ({ next }) => {
    if (step === 'grant') return grantUpload({ upload: number }, 1)
    if (step === 'store') return storeUpload(number)
    if (step === 'seal') return storeUpload(number, { sealed: true })
    if (step === 'request') return requestUploadDeletion(number)
    return step === 'record' ? recordUploadDeletion(number) : recordOutputDeletion(anyRun(pick, next))
  })

/** The number of the latest test of a webhook. Each is requested once, and some are recorded twice or never. */
let latestTest = 0

const care: fc.Arbitrary<Step['command']> = fc
  .record({ step: fc.constantFrom('rotate', 'test', 'test', 'record'), before: fc.nat({ max: 2 }) })
  .map(({ step, before }): Step['command'] => () => {
    if (step === 'rotate') return rotateSecret()
    return step === 'test' ? requestTest(++latestTest) : recordTest(Math.max(1, latestTest - before))
  })

const randomStep: fc.Arbitrary<Step> = fc.record({
  hours: fc.constantFrom(0, 0, 0, 1, 13),
  command: fc.oneof(
    { weight: 6, arbitrary: command },
    { weight: 1, arbitrary: delivery },
    { weight: 1, arbitrary: care },
    { weight: 3, arbitrary: upload },
  ),
})

t.test('the account balances after any sequence of commands', async t => {
  let runs = 0
  let sealed = 0
  fc.assert(
    fc.property(fc.array(randomStep, { maxLength: 80, size: 'max' }), steps => {
      const auditor = new Auditor(accountStream(accountId()), { anyDeletion: true })
      const clock = new ManualClock()
      let state = account.initial
      let next = 1
      const ask = (command: AccountCommand) => {
        const decision = account.decide(command, state, clock.nowMs())
        const events = 'accept' in decision ? decision.accept.map(event => at(clock.nowMs(), event)) : []
        auditor.follow(events)
        state = events.reduce(account.evolve, state)
      }
      ask(openAccount({ welcome: 30 }))
      ask(createKey(1))
      for (const { hours, command } of steps) {
        clock.advance(hours * HOUR_MS)
        const current = command({ next })
        if (current.type === 'QueueRun') next += 1
        ask(current)
      }
      runs += auditor.runsIn('refunded', 'completed')
      sealed += auditor.uploads.filter(([, state]) => state === 'sealed').length
      return (
        auditor.faults.length === 0 &&
        auditor.balanceMicros === state.balanceMicros &&
        auditor.runsIn('queued', 'processing') === state.openRuns.size &&
        isDeepStrictEqual(auditor.uploads, [...state.uploads.map(({ stage }) => stage)].sort())
      )
    }),
    { numRuns: 300 },
  )
  t.ok(runs > 150, 'many runs have ended')
  t.ok(sealed > 20, 'many uploads are sealed')
})

t.test('the account balances after any commands to two processes at once', async t => {
  const log = recording(await openLog(t))
  const caller = { kind: 'service' } as const

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(randomStep, { minLength: 1, maxLength: 12, size: 'max' }), { maxLength: 8, size: 'max' }),
      async rounds => {
        const accountId = newAccountId(systemRandom)
        const clock = new ManualClock()
        const processes = [0, 1].map(() => accountsOn(log, clock)) as [AccountMailboxes, AccountMailboxes]
        await processes[0].execute(caller, accountId, { ...openAccount({ welcome: 30 }), accountId })
        await processes[0].execute(caller, accountId, createKey(1))
        let next = 1
        for (const steps of rounds) {
          clock.advance(HOUR_MS)
          await Promise.all(
            steps.map(({ command }, index) => {
              const current = command({ next })
              if (current.type === 'QueueRun') next += 1
              return processes[index % 2 === 0 ? 0 : 1].execute(
                { ...caller, requestId: `r-${index}` },
                accountId,
                current,
              )
            }),
          )
        }
        const stream = accountStream(accountId)
        const auditor = new Auditor(stream, { anyDeletion: true })
        for (const append of await log.appends(stream)) auditor.followChain(append)
        const { balanceMicros } = await accountsOn(log, clock).state(accountId)
        return auditor.faults.length === 0 && auditor.balanceMicros === balanceMicros
      },
    ),
    { numRuns: 60 },
  )
  t.pass()
})

t.test('concurrent identical requests are charged once', async t => {
  const log = recording(await openLog(t))
  const accountId = newAccountId(systemRandom)
  const clock = new ManualClock()
  const processes = Array.from({ length: 3 }, () => accountsOn(log, clock))
  const caller = { kind: 'service' } as const
  await processes[0]?.execute(caller, accountId, { ...openAccount(), accountId })
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      processes[index % 3]?.execute(caller, accountId, queueRun({ run: index + 1, key: 'a' })),
    ),
  )

  const first = outcomes.filter(outcome => outcome && 'accept' in outcome && outcome.repeatOf === undefined)
  t.equal(first.length, 1)
  const runs = outcomes.map(outcome => outcome && 'accept' in outcome && outcome.repeatOf)
  t.equal(new Set(runs.filter(Boolean)).size, 1, 'all others return that run')
  const stream = accountStream(accountId)
  const auditor = new Auditor(stream, { anyDeletion: true })
  for (const append of await log.appends(stream)) auditor.followChain(append)
  t.same(auditor.faults, [])
  t.equal(auditor.balanceMicros, toMicros(90))
})

/** A log that remembers the boundaries of appends, which reads do not show. */
const recording = (log: EventLog) => {
  const sizes = new Map<string, number[]>()
  const append: EventLog['append'] = async (stream, events, expectedRevision) => {
    const appended = await log.append(stream, events, expectedRevision)
    sizes.set(stream, [...(sizes.get(stream) ?? []), events.length])
    return appended
  }
  const appends = async (stream: string): Promise<AuditedEvent[][]> => {
    const events = await collect(log.readStream(stream, 0))
    return (sizes.get(stream) ?? []).map(size => events.splice(0, size)).concat(events.length > 0 ? [events] : [])
  }
  return { ...log, append, appends }
}
