import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { type UsagePart, usagePlace } from '../../../projections/usage.ts'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import { account } from '../../../src/domain/account/account.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { debitFacts } from '../../../src/domain/account/credits.ts'
import type { AccountState } from '../../../src/domain/account/state.ts'
import type { UsageCounts } from '../../../src/services/usage/first-groups.ts'
import {
  completeRun,
  failRun,
  grantCredits,
  keyId,
  openAccount,
  queueRun,
  receipt,
  recorded,
  runId,
  startRun,
} from '../../support/account-samples.ts'
import { usageService } from '../../support/usage.ts'

const GRANTED = 100_000
const LABELS = [undefined, 'a', 'a!', 'a/b', 'A b', 'ä', '😀', '%2F']

/** A run that is made, ends some days later, and may be refunded by an operator. */
const life = fc.record({
  day: fc.nat({ max: 9 }),
  days: fc.nat({ max: 3 }),
  credits: fc.integer({ min: 1, max: 9 }),
  model: fc.constantFrom('nano-banana-2', 'nano', 'zeta'),
  key: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  label: fc.constantFrom(...LABELS),
  end: fc.constantFrom('open', 'completed', 'refunded', 'failed', 'cancelled'),
  /** Whether its refund is older than the facts that refunds repeat. */
  isOlder: fc.boolean(),
})
type Life = typeof life extends fc.Arbitrary<infer Each> ? Each : never

const timeOf = (day: number) => new Date(Date.UTC(2026, 10, 1 + day, 23, 59)).toISOString()

/** The events of an account with these runs, in the order of their days. */
const eventsOf = (lives: Life[]): Recorded[] => {
  const events: Recorded[] = []
  let state: AccountState = account.initial
  const execute = (day: number, actor: object, command: AccountCommand, change = (event: AccountEvent) => event) => {
    const decision = account.decide(command, state, Date.parse(timeOf(day)))
    if (!('accept' in decision)) throw new Error(`${command.type} was refused: ${decision.refuse.code}`)
    for (const event of decision.accept.map(change)) {
      const past = { ...recorded(event), revision: events.length, metadata: { at: timeOf(day), actor } }
      events.push(past as unknown as Recorded)
      state = account.evolve(state, past as never)
    }
  }
  const operator = { kind: 'operator', name: 'ada' }
  execute(0, operator, openAccount({ account: 1 }))
  execute(0, operator, grantCredits(GRANTED))
  const steps = lives.flatMap((each, index) => {
    const { credits, model, key, label, isOlder, end } = each
    const run = index + 1
    const actor = key === undefined ? { kind: 'session', sessionId: 'sess_1' } : { kind: 'key', keyId: keyId(key) }
    const { keyId: _, ...queue } = { keyId: undefined, ...queueRun({ run, credits }) }
    const command = { ...queue, receipt: { ...receipt(credits), model }, ...(label !== undefined && { label }) }
    const age = (event: AccountEvent) => (isOlder && event.type === 'CreditsRefunded' ? older(event) : event)
    const make = () => {
      execute(each.day, actor, command)
      if (end !== 'cancelled' && end !== 'failed') execute(each.day, reactor, startRun(run))
    }
    const finish = () => {
      const day = each.day + each.days
      if (end === 'failed') execute(day, reactor, failRun(run), age)
      if (end === 'cancelled') execute(day, actor, { type: 'CancelRun', runId: runId(run) }, age)
      if (end === 'completed' || end === 'refunded') execute(day, reactor, completeRun(run))
      if (end !== 'refunded') return
      const debit = events.find(({ type, data }) => type === 'CreditsDebited' && runOf(data) === runId(run)) as never
      const amounts = { amountMicros: 500_000, chargedMicros: credits * 1_000_000, refundedMicros: 0 }
      const uses = [{ lot: 1, amountMicros: amounts.chargedMicros }]
      const facts = { uses, debit: debitFacts(debit), refunds: state.refunds, reason: 'the run failed: it was black' }
      execute(day, operator, { type: 'RefundRun', runId: runId(run), ...amounts, ...facts }, age)
    }
    return [
      { day: each.day, order: 0, step: make },
      { day: each.day + each.days, order: 1, step: finish },
    ]
  })
  for (const { step } of steps.toSorted((a, b) => a.day - b.day || a.order - b.order)) step()
  return events
}

const reactor = { kind: 'reactor' }
const runOf = (data: unknown) => (data as { runId: string }).runId

const older = (event: AccountEvent): AccountEvent => {
  const { debit: _, error: __, ...data } = event.data as Record<string, unknown>
  return { ...event, data } as AccountEvent
}

/** The groups according to the events alone, as somebody would add them up by hand. */
const naive = (events: Recorded[], parts: UsagePart[], from: string, to: string): UsageCounts[] => {
  const groups = new Map<string, UsageCounts>()
  if (parts.length === 0)
    groups.set('', { runs: 0, failures: 0, chargedMicros: 0, refundedMicros: 0, releasedMicros: 0 })
  const debits = new Map<string, Partial<UsageCounts>>()
  events.forEach(({ type, data, metadata }, index) => {
    if (type !== 'CreditsDebited' && type !== 'CreditsRefunded') return
    const { amountMicros, label, receipt } = data as {
      amountMicros: number
      label?: string
      receipt?: { model: string }
    }
    const key = (metadata.actor as { keyId?: string }).keyId
    if (receipt) debits.set(runOf(data), { model: receipt.model, keyId: key as never, label: label as never })
    const day = metadata.at.slice(0, 10)
    if (day < from || day >= to) return
    const facts = { ...(receipt || 'debit' in (data as object) ? debits.get(runOf(data)) : {}), day }
    const { model, keyId, label: labelled } = facts as Partial<UsageCounts>
    const place = usagePlace({ day, model, keyId, label: labelled } as never, parts)
    const known: UsageCounts = groups.get(place) ?? {
      ...{ runs: 0, failures: 0, chargedMicros: 0, refundedMicros: 0, releasedMicros: 0 },
      ...(parts.includes('day') && { day }),
      ...(parts.includes('model') && model !== undefined && { model }),
      ...(parts.includes('key') && keyId !== undefined && { keyId }),
      ...(parts.includes('label') && labelled !== undefined && { label: labelled }),
    }
    const isOfFailure = events[index - 1]?.type === 'RunFailed'
    groups.set(place, {
      ...known,
      runs: known.runs + Number(type === 'CreditsDebited'),
      failures: known.failures + Number(type === 'CreditsRefunded' && isOfFailure),
      chargedMicros: known.chargedMicros + (receipt ? amountMicros : 0),
      refundedMicros: known.refundedMicros + (receipt ? 0 : amountMicros),
    })
  })
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counts]) => counts)
}

const ORDER: UsagePart[] = ['day', 'label', 'model', 'key']
const groupings = [...Array(16).keys()].map(bits => ORDER.filter((_, index) => bits & (1 << index)))

t.test('every grouping of random runs is what their events add up to, page by page', async t => {
  const period = fc.record({ first: fc.nat({ max: 8 }), days: fc.integer({ min: 1, max: 14 }) })
  const sizes = fc.record({ limit: fc.integer({ min: 1, max: 6 }), sliceRows: fc.integer({ min: 1, max: 5 }) })
  const property = fc.asyncProperty(
    fc.array(life, { maxLength: 25 }),
    period,
    sizes,
    async (lives, { first, days }, { limit, sliceRows }) => {
      const events = eventsOf(lives)
      const [from, to] = [timeOf(first).slice(0, 10), timeOf(first + days).slice(0, 10)]
      const { all } = usageService(events, '2026-11-20T12:00:00.000Z', { sliceRows })
      for (const groupBy of groupings) {
        const found = await all({ from, to, groupBy: groupBy.toReversed(), limit })
        const expected = naive(events, groupBy, from, to)
        assert.deepEqual(found, expected, groupBy.join())
      }
    },
  )
  await t.resolves(fc.assert(property, { numRuns: 40 }))
})

t.test('the sums of the whole time are those of the ledger', async t => {
  const property = fc.asyncProperty(fc.array(life, { maxLength: 25 }), async lives => {
    const events = eventsOf(lives)
    const { all } = usageService(events, '2026-11-20T12:00:00.000Z')
    const spentMicros = sum(events, 'CreditsDebited') - sum(events, 'CreditsRefunded')
    for (const groupBy of groupings) {
      const found = await all({ groupBy, limit: 100 })
      const netMicros = found.reduce(
        (sum, { chargedMicros, refundedMicros }) => sum + chargedMicros - refundedMicros,
        0,
      )
      assert.equal(netMicros, spentMicros)
    }
  })
  await t.resolves(fc.assert(property, { numRuns: 40 }))
})

const sum = (events: Recorded[], type: string): number =>
  events.reduce((total, event) => total + (event.type === type ? amountOf(event) : 0), 0)

const amountOf = ({ data }: Recorded) => (data as { amountMicros: number }).amountMicros
