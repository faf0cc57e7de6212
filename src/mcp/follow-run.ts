import type { Subscription } from 'rxjs'
import { hasEnded } from '../../projections/runs.ts'
import type { RunRow } from '../../schemas/views.ts'
import { Unavailable } from '../ports/faults.ts'
import { unwrap } from './refusals.ts'
import type { Call, Notify } from './tool.ts'

/** How often a client gets a notification while nothing changes. */
const HEARTBEAT_MS = 2000

/** How often a client gets the text that has arrived. */
const TEXT_EVERY_MS = 250

/**
 * Follows a run until it ends, the time is up or the client disconnects, and reports progress and the text that arrives
 * to the client.
 */
export const followRun = async (row: RunRow, call: Call, notify: Notify, forMs: number): Promise<RunRow> => {
  if (hasEnded(row)) return row
  const { services, caller, signal } = call
  const startMs = performance.now()
  const until = AbortSignal.any([signal, AbortSignal.timeout(forMs)])
  const reporter = new ProgressReporter(row, notify)
  const reports: Subscription[] = []
  let latest = row
  try {
    const { changes, progress, texts } = unwrap(await services.runs.followRun(caller, row.runId))
    reports.push(
      progress.subscribe(share => reporter.reached(share)),
      texts.subscribe(text => reporter.arrived(text)),
    )
    await changes(until).forEach(now => {
      latest = now
      reporter.changed(now)
    })
  } catch (error) {
    // The run is accepted and charged even if the views are unavailable, so the client must learn its id.
    if (!(error instanceof Unavailable)) throw error
  } finally {
    for (const report of reports) report.unsubscribe()
    reporter.end()
    // The client asked to wait.
    if (caller.record) caller.record.runMs = (caller.record.runMs ?? 0) + performance.now() - startMs
  }
  return latest
}

/** The highest percentage of a run that has not ended. */
const MAX_RUNNING_PERCENT = 99

/** The increase while no progress is known: the protocol requires that progress rises with each notification. */
const STEPS_PER_PERCENT = 100
const STEP_PERCENT = 1 / STEPS_PER_PERCENT

/** Reports the progress of a run to a client. */
class ProgressReporter {
  readonly #notify: Notify
  readonly #heartbeat: NodeJS.Timeout
  #lastPercent = -STEP_PERCENT
  #status: string
  #percent = 0
  #text = ''
  #toldLength = 0
  #textTimer: NodeJS.Timeout | undefined

  constructor({ status }: RunRow, notify: Notify) {
    this.#notify = notify
    this.#status = status
    this.#report()
    this.#heartbeat = setInterval(() => this.#report(), HEARTBEAT_MS)
  }

  changed(row: RunRow) {
    if (row.status === this.#status) return
    this.#status = row.status
    if (hasEnded(row)) this.#percent = 100
    this.#report()
  }

  reached(share: number) {
    const percent = Math.min(share * 100, MAX_RUNNING_PERCENT)
    // Every report adds a step, so polls without progress must not report: a long run would pass 100 %.
    if (percent <= this.#percent) return
    this.#percent = percent
    this.#report()
  }

  /** `text` is all of the text so far. */
  arrived(text: string) {
    this.#text = text
    this.#textTimer ??= setTimeout(() => {
      this.#textTimer = undefined
      this.#report(this.#text.slice(this.#toldLength))
      this.#toldLength = this.#text.length
    }, TEXT_EVERY_MS)
  }

  end() {
    clearInterval(this.#heartbeat)
    clearTimeout(this.#textTimer)
  }

  #report(message?: string) {
    const percent = Math.max(this.#percent, this.#lastPercent + STEP_PERCENT)
    this.#lastPercent = Math.round(percent * STEPS_PER_PERCENT) / STEPS_PER_PERCENT
    const isKnown = this.#percent > 0 && this.#status === 'processing'
    const status = this.#status + (isKnown ? `, ${Math.round(this.#percent)} %` : '')
    this.#notify(this.#lastPercent, message ?? status)
  }
}
