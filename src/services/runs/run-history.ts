import { runKey } from '../../../projections/runs.ts'
import { linesOfRun } from '../../../projections/statement.ts'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { MAX_CHARGE_LINES } from '../../../schemas/api/charge.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { RawEvent, Recorded } from '../../../schemas/recorded.ts'
import type { RunRow, StatementRow, WebhookRow } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, isSeenBy } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import { parseRunId } from '../ids.ts'
import { seenBy } from '../policies/redaction.ts'
import type { Reads } from '../views/reads.ts'
import { readRunRow } from './run-rows.ts'

/** Everything that the log tells about a run. */
export interface RunHistory {
  run: RunRow
  /** The events of the run, oldest first, as its owner may see them. Events amid many others may be missing. */
  events: RunEvent[]
  /** Its lines in the ledger, oldest first. A test run has none. */
  lines: StatementRow[]
  webhook: WebhookRow | undefined
}

export type RunEvent = Recorded<AccountEvent>

/** Events read for a run. A busy account has that many while one of its films is made. */
const MAX_EVENTS = 2_000

interface Dependencies {
  reads: Reads
  log: Pick<EventLog, 'readEvent' | 'readStream'>
}

/** Tells the owner of an account what happened to a run. */
export class RunHistories {
  readonly #dependencies: Dependencies

  readonly permissions = { ofRun: 'read' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The history of one of the caller's runs, by either form of its ID. Rejects with Unavailable. */
  async ofRun(caller: AccountCaller, id: string): Promise<Answer<RunHistory>> {
    const { reads } = this.#dependencies
    const { accountId } = caller
    const runId = parseRunId(id)
    const run = runId && (await readRunRow(this.#dependencies, accountId, runId))
    if (!run || !isSeenBy(caller, run)) return refuse('run_not_found')
    const [entries, webhook] = await Promise.all([
      reads.list('statement', 'byRun', { prefix: linesOfRun(accountId, runId), limit: MAX_CHARGE_LINES }),
      reads.get('webhooks', runKey(accountId, runId)),
    ])
    const lines = entries.map(({ row }) => row)
    const known = [...run.revisions, ...lines.map(({ revision }) => revision)]
    const found = await this.#read(accountId, runId, known)
    const events = found.map(shown).filter(event => event !== undefined)
    return answer({ run, lines, events: seenBy(caller, events), webhook: webhook && seenBy(caller, webhook) })
  }

  /** The events of a run from its first on. Later ones are read at their known revisions, and beside them. */
  async #read(accountId: AccountId, runId: RunId, known: readonly number[]): Promise<RawEvent[]> {
    const { log } = this.#dependencies
    const stream = accountStream(accountId)
    const found = new Map<number, RawEvent>()
    const take = (event: RawEvent) => {
      if ((event.data as { runId?: unknown }).runId === runId) found.set(event.revision, event)
    }
    const first = Math.min(...known)
    let last = first - 1
    for await (const page of log.readStream(stream, first)) {
      for (const event of page) take(event)
      last = page.at(-1)?.revision ?? last
      if (last - first >= MAX_EVENTS) break
    }
    // The end of a run shares an append with its refund or release.
    const later = new Set(known.flatMap(revision => [revision - 1, revision, revision + 1]).filter(each => each > last))
    for (const event of await Promise.all([...later].map(revision => log.readEvent(stream, revision))))
      if (event) take(event)
    return [...found.values()].sort((one, other) => one.revision - other.revision)
  }
}

/** An event without what only the operator may know: the charge of the provider. */
const shown = (raw: RawEvent): RunEvent | undefined => {
  const event = eventCodec.decode(raw) as RunEvent
  if (event.type === 'ProviderCostRecorded') return undefined
  if (event.type !== 'RunCompleted') return event
  const { cost: _, ...data } = event.data
  return { ...event, data }
}
