import { OPERATOR_STREAM } from '../../../schemas/events.ts'
import type { OperatorEvent, Trouble } from '../../../schemas/operator-events.ts'
import {
  type OperatorCommand,
  type OperatorNoticesState,
  operatorNotices,
  type RecordOperatorNotice,
  type Subject,
  subjectOf,
} from '../../domain/operator/notices.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Mailbox } from '../../engine/streams/mailbox.ts'
import { every } from '../../time/every.ts'
import { withinTime } from '../../time/within-time.ts'
import { causeOf } from '../caller.ts'
import { mailboxOf, type StreamDependencies } from '../stream-mailbox.ts'

/** How often what the log did not take is tried again. */
const RETRY_MS = 5_000

/** How long a stop waits for an append. What it loses is told again by the next process. */
const STOP_MS = 1_000

const SERVICE = causeOf({ kind: 'service' })

interface Dependencies extends StreamDependencies {
  /** Whether the operator has an address for mail. */
  hasMail: boolean
}

/**
 * Records the start and the end of alerts: problems that only the operator can fix. Callers do not wait, and report
 * everything that they see: the stream decides what is new.
 */
export class OperatorNotices {
  readonly #dependencies: Dependencies
  readonly #mailbox: Mailbox<OperatorCommand, OperatorNoticesState, OperatorEvent, Refusal>
  /** What the log must still be told, by subject. */
  readonly #untold = new Map<string, OperatorCommand>()
  /** What it was told last. */
  readonly #told = new Map<string, string>()
  #telling: Promise<void> | undefined
  #stopRetrying = () => {}

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#mailbox = mailboxOf(OPERATOR_STREAM, operatorNotices, dependencies)
  }

  start() {
    this.#stopRetrying = every(this.#dependencies.clock, RETRY_MS, () => this.#tellSoon())
  }

  async stop() {
    this.#stopRetrying()
    if (this.#telling) await withinTime(this.#dependencies.clock, this.#telling, STOP_MS, () => undefined)
  }

  /** A trouble was seen. */
  report(trouble: Trouble) {
    this.#tell(subjectOf(trouble), { type: 'RaiseTrouble', trouble, mail: this.#dependencies.hasMail })
  }

  /** What may have had a trouble works. */
  works(of: Subject) {
    this.#tell(subjectOf(of), { type: 'EndTrouble', of })
  }

  /** The notices as the log has them now. */
  state(): Promise<OperatorNoticesState> {
    return this.#mailbox.currentState()
  }

  /** A refusal means that another process has also made this attempt. */
  async record(command: RecordOperatorNotice): Promise<void> {
    await this.#mailbox.execute(command, causeOf({ kind: 'reactor' }))
  }

  #tell(subject: string, command: OperatorCommand) {
    if (!this.#untold.has(subject) && this.#told.get(subject) === JSON.stringify(command)) return
    this.#untold.set(subject, command)
    this.#tellSoon()
  }

  #tellSoon() {
    this.#telling ??= this.#tellAll()
      .catch(error =>
        this.#dependencies.logger.warn({ err: error }, 'an alert to the operator could not be recorded; retrying'),
      )
      .finally(() => {
        this.#telling = undefined
      })
  }

  async #tellAll() {
    for (let [next] = this.#untold; next; [next] = this.#untold) {
      const [subject, command] = next
      await this.#mailbox.execute(command, SERVICE)
      this.#told.set(subject, JSON.stringify(command))
      // It may have changed meanwhile.
      if (this.#untold.get(subject) === command) this.#untold.delete(subject)
    }
  }
}
