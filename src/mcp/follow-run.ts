import { hasEnded } from '../../projections/runs.ts'
import type { RunRow } from '../../schemas/views.ts'
import { Unavailable } from '../ports/faults.ts'
import type { Call, Tell } from './tool.ts'

/** How often a client is told that its run goes on, where nothing else is to be told. */
const SIGN_OF_LIFE_MS = 2000

/** Follows a run until it has ended, the time is up, or nobody waits any more; and tells the client how it goes meanwhile. */
export const followRun = async (row: RunRow, call: Call, tell: Tell, forMs: number): Promise<RunRow> => {
  if (hasEnded(row)) return row
  const { runReads, signal } = call
  const until = AbortSignal.any([signal, AbortSignal.timeout(forMs)])
  const progress = new Progress(row, tell)
  const stopProgress = runReads.onProgress(row.runId, share => progress.reached(share))
  let latest = row
  try {
    for await (const now of runReads.changes(row.accountId, row.runId, until)) {
      latest = now
      progress.changed(now)
    }
  } catch (error) {
    // The run is accepted and charged, whatever the views can show of it; so the client is told its id.
    if (!(error instanceof Unavailable)) throw error
  } finally {
    stopProgress()
    progress.end()
  }
  return latest
}

/** The part that is told while the work goes on: all of it is only for what has ended. */
const MOST_PERCENT = 99

/** What is more than before where nothing is known to be: the protocol wants each notice to tell of some progress. */
const A_BIT_PERCENT = 0.01

/** What a client is told of a run. */
class Progress {
  readonly #tell: Tell
  readonly #signsOfLife: NodeJS.Timeout
  #toldPercent = -A_BIT_PERCENT
  #status: string
  #percent = 0

  constructor({ status }: RunRow, tell: Tell) {
    this.#tell = tell
    this.#status = status
    this.#say()
    this.#signsOfLife = setInterval(() => this.#say(), SIGN_OF_LIFE_MS)
  }

  changed(row: RunRow) {
    if (row.status === this.#status) return
    this.#status = row.status
    if (hasEnded(row)) this.#percent = 100
    this.#say()
  }

  reached(share: number) {
    this.#percent = Math.min(share * 100, MOST_PERCENT)
    this.#say()
  }

  end() {
    clearInterval(this.#signsOfLife)
  }

  #say() {
    this.#toldPercent = Math.max(this.#percent, this.#toldPercent + A_BIT_PERCENT)
    const isKnown = this.#percent > 0 && this.#status === 'processing'
    this.#tell(this.#toldPercent, this.#status + (isKnown ? `, ${Math.round(this.#percent)} %` : ''))
  }
}
