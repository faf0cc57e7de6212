import { linesOfRun } from '../../../projections/statement.ts'
import { MAX_CHARGE_LINES } from '../../../schemas/api/charge.ts'
import type { Receipt } from '../../../schemas/catalog.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { RunRow, StatementRow } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, isSeenBy } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import { parseRunId } from '../ids.ts'
import { readRunRow } from '../runs/run-rows.ts'
import type { Reads } from '../views/reads.ts'

/** A run with its lines of the ledger, and the facts of its debit. */
export interface ChargeStory {
  run: RunRow
  lines: StatementRow[]
  /** The receipt of the debit, or of what the run did cost if the rest was released. */
  receipt: Receipt
  requestId: string | undefined
}

interface Dependencies {
  reads: Reads
  log: Pick<EventLog, 'readEvent'>
}

/** Explains charges to the owner of an account. */
export class Charges {
  readonly #dependencies: Dependencies

  readonly permissions = { explain: 'read' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * The charge of one of the caller's runs, by either form of the run's ID. Another account's run is treated as absent.
   * Reads a few rows and one event. Rejects with Unavailable.
   */
  async explain(caller: AccountCaller, id: string): Promise<Answer<ChargeStory>> {
    const { reads } = this.#dependencies
    const { accountId } = caller
    const runId = parseRunId(id)
    const run = runId && (await readRunRow(this.#dependencies, accountId, runId))
    if (!run || !isSeenBy(caller, run)) return refuse('run_not_found')
    if (run.livemode === false) return refuse('run_not_charged')
    const prefix = linesOfRun(accountId, runId)
    const entries = await reads.list('statement', 'byRun', { prefix, limit: MAX_CHARGE_LINES })
    const lines = entries.map(({ row }) => row)
    const debit = await this.#read(accountId, runId, 'debit', lines)
    const { receipt } = lines.some(({ kind }) => kind === 'release')
      ? await this.#read(accountId, runId, 'release', lines)
      : debit
    return answer({ run, lines, receipt, requestId: debit.requestId })
  }

  /** The receipt and the request in the event of a line. The log decides, since a view may be forged. */
  async #read(accountId: AccountId, runId: RunId, kind: 'debit' | 'release', lines: StatementRow[]) {
    const line = lines.find(each => each.kind === kind)
    const raw = line && (await this.#dependencies.log.readEvent(accountStream(accountId), line.revision))
    const event = raw && eventCodec.decode(raw)
    if (event?.type !== (kind === 'debit' ? 'CreditsDebited' : 'CreditsReleased') || event.data.runId !== runId)
      throw this.#dependencies.reads.missing('statement', linesOfRun(accountId, runId))
    return { receipt: event.data.receipt, requestId: event.metadata.requestId }
  }
}
