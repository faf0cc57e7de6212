import { OPERATOR_STREAM } from '../../../schemas/events.ts'
import type { Alert, OperatorEvent } from '../../../schemas/operator-events.ts'
import {
  type AlertCommand,
  type AlertsState,
  operatorAlerts,
  type RecordAlertMail,
  type Subject,
  subjectOf,
} from '../../domain/operator/alerts.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Mailbox } from '../../engine/streams/mailbox.ts'
import { every, withinTime } from '../../time/timers.ts'
import { causeOf } from '../caller.ts'
import { mailboxOf, type StreamDependencies } from '../stream-mailbox.ts'

/** How often failed appends are retried. */
const RETRY_MS = 5_000

/** How long a stop waits for an append. The next process reports again what this one could not append. */
const STOP_MS = 1_000

const SERVICE = causeOf({ kind: 'service' })

interface Dependencies extends StreamDependencies {
  /** Whether the operator has an address for mail. */
  hasMail: boolean
}

/**
 * Records the start and the end of alerts: problems that only the operator can fix. Callers do not wait, and report
 * every observation: the stream ignores repeats.
 */
export class Alerts {
  readonly #dependencies: Dependencies
  readonly #mailbox: Mailbox<AlertCommand, AlertsState, OperatorEvent, Refusal>
  /** Commands that are not recorded yet, by subject. */
  readonly #pending = new Map<string, AlertCommand>()
  /** The last recorded command of each subject, as JSON. */
  readonly #recorded = new Map<string, string>()
  #appending: Promise<void> | undefined
  #stopRetrying = () => {}

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#mailbox = mailboxOf(OPERATOR_STREAM, operatorAlerts, dependencies)
  }

  start() {
    this.#stopRetrying = every(this.#dependencies.clock, RETRY_MS, () => this.#appendSoon())
  }

  async stop() {
    this.#stopRetrying()
    if (this.#appending) await withinTime(this.#dependencies.clock, this.#appending, STOP_MS, () => undefined)
  }

  /** Reports a problem. */
  report(alert: Alert) {
    this.#change(subjectOf(alert), { type: 'RaiseAlert', alert, mail: this.#dependencies.hasMail })
  }

  /** Reports that the subject works, which ends its alert. */
  works(of: Subject) {
    this.#change(subjectOf(of), { type: 'EndAlert', of })
  }

  /** The current state of the stream. */
  state(): Promise<AlertsState> {
    return this.#mailbox.currentState()
  }

  /** Records an attempt to mail an alert. A refusal means that another process made the same attempt. */
  async record(command: RecordAlertMail): Promise<void> {
    await this.#mailbox.execute(command, causeOf({ kind: 'reactor' }))
  }

  #change(subject: string, command: AlertCommand) {
    if (!this.#pending.has(subject) && this.#recorded.get(subject) === JSON.stringify(command)) return
    this.#pending.set(subject, command)
    this.#appendSoon()
  }

  #appendSoon() {
    this.#appending ??= this.#appendAll()
      .catch(error =>
        this.#dependencies.logger.warn({ err: error }, 'an alert to the operator could not be recorded; retrying'),
      )
      .finally(() => {
        this.#appending = undefined
      })
  }

  async #appendAll() {
    for (let [next] = this.#pending; next; [next] = this.#pending) {
      const [subject, command] = next
      await this.#mailbox.execute(command, SERVICE)
      this.#recorded.set(subject, JSON.stringify(command))
      // The subject may have changed during the append.
      if (this.#pending.get(subject) === command) this.#pending.delete(subject)
    }
  }
}
