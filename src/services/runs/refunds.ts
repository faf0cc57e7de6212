import type { AccountEvent } from '../../../schemas/account-events.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import { clockOf, type Recorded } from '../../../schemas/recorded.ts'
import type { RunRow } from '../../../schemas/views.ts'
import { account } from '../../domain/account/account.ts'
import { withBudgetPeriod } from '../../domain/account/budgets.ts'
import type { RefundRun } from '../../domain/account/commands.ts'
import { debitFacts } from '../../domain/account/credits.ts'
import { usesOf, usesWithout } from '../../domain/account/lots.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import { parseRunId } from '../ids.ts'
import type { Reads } from '../views/reads.ts'
import { readRunRow } from './run-rows.ts'

/** How often a refund is decided again because another one came first. */
const MAX_ATTEMPTS = 5

interface Dependencies {
  accounts: AccountMailboxes
  reads: Reads
  log: EventLog
}

export interface Refund {
  /** If missing, everything that is left of the charge. */
  amountMicros?: number | undefined
  reason: string
}

export interface RefundResult {
  accountId: AccountId
  runId: RunId
  amountMicros: number
  balanceMicros: number
}

/** Refunds completed runs on an operator's decision. */
export class Refunds {
  readonly #dependencies: Dependencies

  readonly permissions = { refund: 'operate' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Refunds a completed run in part or in full. The refunds of a run never exceed its charge. */
  async refund(caller: Caller, run: string, { amountMicros, reason }: Refund): Promise<Answer<RefundResult>> {
    const runId = parseRunId(run)
    const row = runId && (await this.#find(runId))
    if (!row) return refuse('run_not_found')
    const { accountId } = row
    if (row.livemode === false) return refuse('run_not_charged')
    const { accounts } = this.#dependencies
    for (let attempt = 1; ; attempt++) {
      const state = await accounts.currentState(accountId)
      const { refunds, openRuns } = state
      // What it costs in the end may be known only after the log is read.
      if (openRuns.has(runId)) return refuse('run_not_ended')
      const charge = await this.#charge(accountId, runId, state)
      if (!charge) return refuse('run_not_found')
      const refundableMicros = charge.chargedMicros - charge.refundedMicros
      if (refundableMicros === 0) return refuse('refund_too_high', { refundableMicros })
      const refund = { runId, amountMicros: amountMicros ?? refundableMicros, ...charge, reason }
      const outcome = await accounts.execute(caller, accountId, { type: 'RefundRun', ...refund, refunds })
      if (!('refuse' in outcome)) {
        const { balanceMicros } = await accounts.state(accountId)
        return answer({ accountId, runId, amountMicros: refund.amountMicros, balanceMicros })
      }
      if (outcome.refuse.code !== 'refunds_changed' || attempt === MAX_ATTEMPTS) return outcome
    }
  }

  /** The views know the account of a run, also right after its answer. The amounts are read from the log. */
  async #find(runId: RunId): Promise<RunRow | undefined> {
    for await (const { row } of this.#dependencies.reads.scan('accounts', BY_KEY, { prefix: '' })) {
      const run = await readRunRow(this.#dependencies, row.accountId, runId)
      if (run) return run
    }
    return undefined
  }

  /** Undefined if the stream has no debit of the run. */
  async #charge(accountId: AccountId, runId: RunId, state: AccountState): Promise<Charge | undefined> {
    let charge: Charge | undefined
    let past = account.initial
    for await (const page of this.#dependencies.log.readStream(accountStream(accountId), 0))
      for (const raw of page) {
        const event = eventCodec.decode(raw) as Recorded<AccountEvent>
        past = account.evolve(past, event)
        if (event.type === 'CreditsDebited' && event.data.runId === runId)
          charge = {
            chargedMicros: event.data.amountMicros,
            refundedMicros: 0,
            uses: undefined,
            debit: debitOf(event, state),
          }
        if (event.type === 'CreditsReleased' && event.data.runId === runId && charge)
          charge.chargedMicros -= event.data.amountMicros
        if (event.type === 'CreditsRefunded' && event.data.runId === runId && charge)
          charge.refundedMicros += event.data.amountMicros
        // The state forgets ended runs. Their refunds say what they give back.
        const lots = event.type === 'CreditsRefunded' && event.data.runId === runId ? event.data.lots : undefined
        if (charge) charge.uses = usesOf(past, runId) ?? (charge.uses && usesWithout(charge.uses, lots ?? []))
      }
    return charge
  }
}

/** The facts that the refund repeats. A key that was revoked since no longer has a budget to give back to. */
const debitOf = (debit: Parameters<typeof debitFacts>[0] & Parameters<typeof clockOf>[0], state: AccountState) =>
  withBudgetPeriod(debitFacts(debit), Date.parse(clockOf(debit)), state)

type Charge = Pick<RefundRun, 'chargedMicros' | 'refundedMicros' | 'uses' | 'debit'>
