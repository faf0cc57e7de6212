import { type Observable, Subject } from 'rxjs'
import { PROVIDERS_STREAM } from '../../../schemas/events.ts'
import type { ProviderEvent } from '../../../schemas/provider-events.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { type ChoiceCommand, type Choices, choices, type EndedWait, NO_CHOICES } from '../../domain/routing/choices.ts'
import type { Mailbox } from '../../engine/streams/mailbox.ts'
import type { Clock } from '../../ports/clock.ts'
import { Outage } from '../../time/outage.ts'
import { every } from '../../time/timers.ts'
import { type Caller, causeOf } from '../caller.ts'
import { mailboxOf, type StreamDependencies } from '../stream-mailbox.ts'

/** How often a process looks for new choices, so that they take effect everywhere within a second. */
const REFRESH_MS = 500

/** Reads and changes the stream of the operators' choices among providers, and keeps them in memory. */
export class ProviderChoices {
  readonly #mailbox: Mailbox<ChoiceCommand, Choices, ProviderEvent, Refusal>
  readonly #clock: Clock
  readonly #outage: Outage
  readonly #endedWaits = new Subject<EndedWait>()
  #known = NO_CHOICES
  #stop: (() => void) | undefined

  constructor(dependencies: StreamDependencies) {
    this.#clock = dependencies.clock
    this.#outage = new Outage(dependencies.logger, UNREAD, 'the choices among providers can be read again')
    this.#mailbox = mailboxOf(PROVIDERS_STREAM, choices, dependencies)
  }

  /** The choices of a moment ago or, while the log is unavailable, the last that this process knew. Load them first. */
  get known(): Choices {
    return this.#known
  }

  /** Emits the waits that operators end. Load the choices first: earlier events end no wait of this process. */
  get endedWaits(): Observable<EndedWait> {
    return this.#endedWaits
  }

  /** The choices as the log has them now. */
  async load(): Promise<Choices> {
    this.#learn(await this.#mailbox.currentState())
    return this.#known
  }

  /** Keeps the known choices fresh until it is stopped. */
  start() {
    this.#stop = every(this.#clock, REFRESH_MS, () => this.#refresh())
  }

  stop() {
    this.#stop?.()
  }

  /** Resolves to whether the command changed something, or to its refusal. */
  async execute(caller: Caller, command: ChoiceCommand): Promise<{ refuse: Refusal } | { isChange: boolean }> {
    const outcome = await this.#mailbox.execute(command, causeOf(caller))
    return 'refuse' in outcome ? outcome : { isChange: outcome.accept.length > 0 }
  }

  #learn(known: Choices) {
    const before = this.#known.endedWaits
    this.#known = known
    if (known.endedWaits === before) return
    for (const [what, wait] of known.endedWaits)
      if (before.get(what)?.revision !== wait.revision) this.#endedWaits.next(wait)
  }

  #refresh() {
    this.#mailbox.stateSince(this.#clock.monotonicMs()).then(
      known => {
        this.#learn(known)
        this.#outage.passed()
      },
      error => this.#outage.failed(error),
    )
  }
}

const UNREAD = 'the choices among providers could not be read; the last known choices apply'
