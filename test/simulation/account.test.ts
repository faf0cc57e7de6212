import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import type { AccountEvent } from '../../schemas/account-events.ts'
import { type Actor, accountStream } from '../../schemas/recorded.ts'
import { account } from '../../src/domain/account/account.ts'
import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { toMicros } from '../../src/domain/money.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { Accounts } from '../../src/services/accounts/accounts.ts'
import { newAccountId } from '../../src/services/ids.ts'
import {
  cancelRun,
  completeRun,
  createKey,
  digest,
  failRun,
  grantCredits,
  grantUpload,
  openAccount,
  outputDeleted,
  queueRun,
  recordDelivered,
  recordOutputDeletion,
  recordUndelivered,
  recordUploadDeletion,
  requestUploadDeletion,
  revokeKey,
  startRun,
  storeUpload,
  submitRun,
  uploadDeleted,
  uploadDeletionRequested,
  uploadGranted,
  uploadStored,
} from '../support/account-samples.ts'
import { collect } from '../support/collect.ts'
import { noSnapshots, openLog } from '../support/engine.ts'
import { at } from '../support/given.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { type AuditedEvent, Auditor } from './auditor.ts'

const HOUR_MS = 60 * 60 * 1000

/** What somebody wants next. Runs are numbered as they are asked for; the time that passes before is in hours. */
interface Wish {
  hours: number
  command(run: { next: number; atMs: number }): AccountCommand
}

const choice = fc.nat({ max: 1000 })
const credits = fc.integer({ min: 1, max: 40 })
/** Any run asked for so far, and now and then one that is not. */
const anyRun = (pick: number, next: number) => 1 + (pick % next)

const command: fc.Arbitrary<Wish['command']> = fc.oneof(
  { weight: 2, arbitrary: credits.map(amount => () => grantCredits(amount)) },
  { weight: 1, arbitrary: fc.nat({ max: 3 }).map(key => () => createKey(key)) },
  { weight: 1, arbitrary: fc.nat({ max: 3 }).map(key => () => revokeKey(key)) },
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
        (options): Wish['command'] =>
          ({ next, atMs }) =>
            queueRun({ ...options, run: next, atMs }),
      ),
  },
  ...[startRun, submitRun, cancelRun, completeRun, failRun].map(step => ({
    weight: 3,
    arbitrary: choice.map(
      (pick): Wish['command'] =>
        ({ next }) =>
          step(anyRun(pick, next)),
    ),
  })),
)

// Attempts are counted here as the receivers' answers come, right or wrong.
const delivery: fc.Arbitrary<Wish['command']> = fc
  .record({ pick: choice, attempt: fc.integer({ min: 1, max: 3 }), end: fc.constantFrom('delivered', 'again', 'last') })
  .map(({ pick, attempt, end }): Wish['command'] => ({ next }) => {
    const run = anyRun(pick, next)
    if (end === 'delivered') return recordDelivered(attempt, run)
    return recordUndelivered(attempt, { run, ...(end === 'again' && { next: '2026-01-02T00:00:00.000Z' }) })
  })

// A few uploads, so that each is wanted to take steps that fit what it is, and many that do not.
const upload: fc.Arbitrary<Wish['command']> = fc
  .record({
    number: fc.integer({ min: 1, max: 3 }),
    step: fc.constantFrom('grant', 'grant', 'store', 'seal', 'request', 'record', 'output'),
    pick: choice,
  })
  .map(({ number, step, pick }): Wish['command'] => ({ next }) => {
    if (step === 'grant') return grantUpload({ upload: number }, 1)
    if (step === 'store') return storeUpload(number)
    if (step === 'seal') return storeUpload(number, { sealed: true })
    if (step === 'request') return requestUploadDeletion(number)
    return step === 'record' ? recordUploadDeletion(number) : recordOutputDeletion(anyRun(pick, next))
  })

const wish: fc.Arbitrary<Wish> = fc.record({
  hours: fc.constantFrom(0, 0, 0, 1, 13),
  command: fc.oneof(
    { weight: 6, arbitrary: command },
    { weight: 1, arbitrary: delivery },
    { weight: 3, arbitrary: upload },
  ),
})

t.test('whatever is asked of the decider, the account adds up', async t => {
  let runs = 0
  let sealed = 0
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 80, size: 'max' }), wishes => {
      const auditor = new Auditor()
      const clock = new ManualClock()
      let state = account.initial
      let next = 1
      const ask = (command: AccountCommand) => {
        const decision = account.decide(command, state)
        const events = 'accept' in decision ? decision.accept.map(event => at(clock.nowMs(), event)) : []
        auditor.follow(events)
        state = events.reduce(account.evolve, state)
      }
      ask(openAccount({ welcome: 30 }))
      ask(createKey(1))
      for (const { hours, command } of wishes) {
        clock.advance(hours * HOUR_MS)
        const wanted = command({ next, atMs: clock.nowMs() })
        if (wanted.type === 'QueueRun') next += 1
        ask(wanted)
      }
      runs += auditor.runsIn('refunded', 'completed')
      sealed += auditor.uploads.filter(([, state]) => state === 'sealed').length
      return (
        auditor.faults.length === 0 &&
        auditor.balanceMicros === state.balanceMicros &&
        auditor.runsIn('queued', 'processing') === state.openRuns.size &&
        isDeepStrictEqual(auditor.uploads, [...state.uploads].sort())
      )
    }),
    { numRuns: 300 },
  )
  t.ok(runs > 300, 'many runs came to an end')
  t.ok(sealed > 20, 'many uploads came to stay')
})

t.test('whatever is asked of two processes at once, the account adds up', async t => {
  const log = recording(await openLog(t))
  const actor: Actor = { kind: 'service' }

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(wish, { minLength: 1, maxLength: 12, size: 'max' }), { maxLength: 8, size: 'max' }),
      async rounds => {
        const accountId = newAccountId()
        const clock = new ManualClock()
        const processes = [0, 1].map(() => new Accounts(log, noSnapshots, clock)) as [Accounts, Accounts]
        await processes[0].execute(accountId, { ...openAccount({ welcome: 30 }), accountId }, { actor })
        await processes[0].execute(accountId, createKey(1), { actor })
        let next = 1
        for (const wishes of rounds) {
          clock.advance(HOUR_MS)
          await Promise.all(
            wishes.map(({ command }, index) => {
              const wanted = command({ next, atMs: clock.nowMs() })
              if (wanted.type === 'QueueRun') next += 1
              return processes[index % 2 === 0 ? 0 : 1].execute(accountId, wanted, { actor, requestId: `r-${index}` })
            }),
          )
        }
        const auditor = new Auditor()
        for (const append of await log.appends(accountStream(accountId))) auditor.followChain(append)
        const { balanceMicros } = await new Accounts(log, noSnapshots, clock).state(accountId)
        return auditor.faults.length === 0 && auditor.balanceMicros === balanceMicros
      },
    ),
    { numRuns: 60 },
  )
  t.pass()
})

t.test('the same request from many sides at once is charged once', async t => {
  const log = recording(await openLog(t))
  const accountId = newAccountId()
  const clock = new ManualClock()
  const processes = Array.from({ length: 3 }, () => new Accounts(log, noSnapshots, clock))
  const cause = { actor: { kind: 'service' } } as const
  await processes[0]?.execute(accountId, { ...openAccount(), accountId }, cause)
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      processes[index % 3]?.execute(accountId, queueRun({ run: index + 1, key: 'a', atMs: clock.nowMs() }), cause),
    ),
  )

  const first = outcomes.filter(outcome => outcome && 'accept' in outcome && outcome.repeatOf === undefined)
  t.equal(first.length, 1)
  const runs = outcomes.map(outcome => outcome && 'accept' in outcome && outcome.repeatOf)
  t.equal(new Set(runs.filter(Boolean)).size, 1, 'all others are told of that one run')
  const auditor = new Auditor()
  for (const append of await log.appends(accountStream(accountId))) auditor.followChain(append)
  t.same(auditor.faults, [])
  t.equal(auditor.balanceMicros, toMicros(90))
})

t.test('the auditor is not easily pleased', async t => {
  const history = [openAccount({ welcome: 30 }), queueRun({ key: 'a' }), startRun(), failRun()].reduce<{
    appends: AuditedEvent[][]
    state: typeof account.initial
  }>(
    ({ appends, state }, command) => {
      const decision = account.decide(command, state)
      const events = 'accept' in decision ? decision.accept.map(event => at(0, event)) : []
      return { appends: appends.concat([events]), state: events.reduce(account.evolve, state) }
    },
    { appends: [], state: account.initial },
  ).appends
  const [opening, queueing, starting, failing] = history as [
    AuditedEvent[],
    AuditedEvent[],
    AuditedEvent[],
    AuditedEvent[],
  ]
  const [failure, refund] = failing as [AuditedEvent, AuditedEvent]
  const other = (event: AuditedEvent, change: object) => ({ ...event, data: { ...(event.data as object), ...change } })

  const uploaded = (event: AccountEvent): AuditedEvent => at(0, event)
  const [grant, store, seal] = [uploadGranted(), uploadStored(), uploadStored(1, { sealed: true })].map(uploaded) as [
    AuditedEvent,
    AuditedEvent,
    AuditedEvent,
  ]
  const [leave, gone] = [uploadDeletionRequested(), uploadDeleted()].map(uploaded) as [AuditedEvent, AuditedEvent]

  const frauds: Record<string, AuditedEvent[][]> = {
    'a refund comes twice': [...history, [refund]],
    'a refund is too high': [opening, queueing, starting, [failure, other(refund, { amountMicros: 11 })]],
    'a refund comes on its own': [opening, queueing, starting, [failure], [refund]],
    'a run ends twice': [...history, failing],
    'a debit comes without its run': [opening, queueing.slice(0, 1)],
    'a run comes without its debit': [opening, queueing.slice(1)],
    'a balance is made up': [opening.map(event => other(event, { balanceAfterMicros: 1 }))],
    'a key is charged twice': [opening, queueing, queueing.map(event => other(event, { runId: 'run_2' }))],
    'a run starts twice': [opening, queueing, starting, starting],
    'the results of a run that goes on are deleted': [opening, queueing, [uploaded(outputDeleted())]],
    'an upload is granted twice': [opening, [grant], [grant]],
    'an upload is stored twice': [opening, [grant], [store], [store]],
    'an upload is stored after it was sealed': [opening, [grant], [seal], [store]],
    'an upload is stored that is to go': [opening, [grant], [leave], [seal]],
    'an upload is asked to go twice': [opening, [grant], [leave], [leave]],
    'an upload is deleted twice': [opening, [grant], [gone], [gone]],
  }
  const audit = (appends: AuditedEvent[][]) => {
    const auditor = new Auditor()
    for (const append of appends) auditor.follow(append)
    return auditor.faults
  }
  t.same(audit(history), [])
  t.same(audit([opening, [grant], [store], [seal], [leave], [gone], [grant]]), [])
  for (const [fraud, appends] of Object.entries(frauds)) t.not(audit(appends).length, 0, fraud)
})

/** A log that also knows where one append ends and the next begins, which cannot be told from what is read. */
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
