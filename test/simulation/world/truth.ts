import type { RawEvent } from '../../../schemas/recorded.ts'
import type { RunRow } from '../../../schemas/views.ts'
import type { NewEvent } from '../../../src/ports/event-log.ts'
import { type AuditedEvent, Auditor } from '../auditor.ts'
import type { SimulatedProcess } from './process.ts'

interface Ledger {
  auditor: Auditor
  /** The balance after each event that moved it, with the event's position. */
  balances: { position: number; balanceMicros: number }[]
  /** For each run, where it was queued, and how and where it ended. */
  runs: Map<string, { position: number; chargedMicros: number; ended?: 'completed' | 'failed'; endedAt?: number }>
  /** Where the grants and withdrawals are, by reference. */
  references: Map<string, number>
}

/** What the log says, followed as it is written, and held against what clients and receivers are told. */
export class Truth {
  readonly #ledgers = new Map<string, Ledger>()
  /** The position of what clients were last told through each process. */
  readonly #known = new Map<string, number>()
  readonly #webhooks = new Map<string, string>()
  readonly #onFault: (fault: string) => void
  /** Whether a run may lose the process that works on it. */
  mayInterrupt = true

  constructor(onFault: (fault: string) => void) {
    this.#onFault = onFault
  }

  /** Follows an append. `firstPosition` is the position of its first event. */
  follow(stream: string, events: NewEvent[], firstPosition: number) {
    if (!stream.startsWith('account-')) return
    const ledger = this.#ledgerOf(stream)
    const { auditor, balances, runs, references } = ledger
    auditor.followChain(stream, events as AuditedEvent[])
    for (const fault of auditor.faults.splice(0)) this.#onFault(`${stream}: ${fault}`)
    for (const [index, { type, data }] of events.entries()) {
      const position = firstPosition + index
      const { runId, amountMicros, balanceAfterMicros, reference, error } = data as {
        runId: string
        amountMicros: number
        balanceAfterMicros?: number
        reference?: string
        error?: { code: string }
      }
      if (balanceAfterMicros !== undefined) balances.push({ position, balanceMicros: balanceAfterMicros })
      if (type === 'CreditsDebited') runs.set(runId, { position, chargedMicros: amountMicros })
      if (reference !== undefined) references.set(reference, position)
      if (error?.code === 'interrupted' && !this.mayInterrupt)
        this.#onFault(`${runId} was interrupted, where no process was`)
      const run = runs.get(runId)
      if (run && type === 'RunCompleted') Object.assign(run, { ended: 'completed', endedAt: position })
      if (run && type === 'RunFailed') Object.assign(run, { ended: 'failed', endedAt: position })
    }
  }

  /**
   * A client was told of a run through a process: the run is in the log, and has not ended otherwise there. If the
   * client knows of everything up to a position, it is not told of an earlier state.
   */
  expectRun(accountId: string, process: SimulatedProcess, { runId, status, chargedMicros }: RunRow, since = -1) {
    const run = this.#ledgerOf(`account-${accountId}`).runs.get(runId)
    if (!run) return this.#onFault(`${runId} was acknowledged, and is not in the log`)
    const isEnded = status === 'completed' || status === 'failed'
    if (isEnded ? run.ended !== status : run.endedAt !== undefined && run.endedAt <= since)
      this.#onFault(`${runId} was shown as ${status}, and is ${run.ended ?? 'open'} in the log`)
    if (run.chargedMicros !== chargedMicros)
      this.#onFault(`${runId} was shown as charged ${chargedMicros}, and cost ${run.chargedMicros}`)
    this.#know(accountId, process, (isEnded && run.endedAt) || run.position)
  }

  /** A grant or withdrawal was acknowledged to a client through a process. */
  expectReference(accountId: string, process: SimulatedProcess, reference: string) {
    const position = this.#ledgerOf(`account-${accountId}`).references.get(reference)
    if (position === undefined) return this.#onFault(`${reference} was acknowledged, and is not in the log`)
    this.#know(accountId, process, position)
  }

  /** The position up to which a client's reads through a process must show its account. */
  known(accountId: string, process: SimulatedProcess): number {
    return this.#known.get(`${accountId} ${process.name}`) ?? -1
  }

  #know(accountId: string, process: SimulatedProcess, position: number) {
    this.#known.set(`${accountId} ${process.name}`, Math.max(position, this.known(accountId, process)))
  }

  /** A client was told that a run does not exist. */
  expectNoRun(accountId: string, runId: string, since: number) {
    const run = this.#ledgerOf(`account-${accountId}`).runs.get(runId)
    if (run && run.position <= since) this.#onFault(`${runId} was not found, and is in the log since ${run.position}`)
  }

  /** The position of the last event that moved an account's balance. */
  lastBalance(accountId: string): number {
    return this.#ledgerOf(`account-${accountId}`).balances.at(-1)?.position ?? -1
  }

  /** A client was told a balance: one that the account had since the given position. */
  expectBalance(accountId: string, since: number, balanceMicros: number) {
    const { balances } = this.#ledgerOf(`account-${accountId}`)
    const first = Math.max(
      0,
      balances.findLastIndex(({ position }) => position <= since),
    )
    if (!balances.slice(first).some(balance => balance.balanceMicros === balanceMicros))
      this.#onFault(`${accountId} was told a balance of ${balanceMicros}, which it has not had since position ${since}`)
  }

  /** A webhook arrived: it tells of an end that is in the log, and always the same. */
  expectWebhook(id: string, body: string) {
    const before = this.#webhooks.get(id)
    if (before !== undefined && before !== body) this.#onFault(`${id} arrived with ${body}, and before with ${before}`)
    this.#webhooks.set(id, body)
    const { run_id: runId, status } = JSON.parse(body).data as { run_id: string; status: string }
    const run = [...this.#ledgers.values()].map(({ runs }) => runs.get(runId)).find(Boolean)
    if (run?.ended !== status) this.#onFault(`${id} told of ${status}, and the log says ${run?.ended}`)
  }

  /** What is still open, where everything should have ended. */
  open(): string[] {
    return [...this.#ledgers].flatMap(([stream, { runs, auditor }]) => [
      ...[...runs].filter(([, { ended }]) => !ended).map(([runId]) => `${runId} of ${stream} has not ended`),
      ...auditor.pendingDeliveries.map(runId => `the webhook of ${runId} was neither delivered nor abandoned`),
    ])
  }

  /** The events of a log, for a second look from the beginning. */
  static of(events: RawEvent[], onFault: (fault: string) => void): Truth {
    const truth = new Truth(onFault)
    for (const event of events) truth.follow(event.stream, [event], event.position)
    return truth
  }

  #ledgerOf(stream: string): Ledger {
    let ledger = this.#ledgers.get(stream)
    if (!ledger) {
      ledger = { auditor: new Auditor(), balances: [], runs: new Map(), references: new Map() }
      this.#ledgers.set(stream, ledger)
    }
    return ledger
  }
}
