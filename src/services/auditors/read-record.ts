import type { AuditorRead, ReadEvent } from '../../../schemas/auditor-events.ts'
import { READS_STREAM } from '../../../schemas/events.ts'
import { type ReadsState, readRefusal, reads, readsStateOf } from '../../domain/auditors/reads.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Mailbox } from '../../engine/streams/mailbox.ts'
import type { SnapshotForm, Snapshots } from '../../engine/streams/snapshots.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import { type AuditorCaller, causeOf } from '../caller.ts'
import { mailboxOf, type StreamDependencies } from '../stream-mailbox.ts'

interface Dependencies extends StreamDependencies {
  snapshots: Snapshots<ReadsState>
}

/** Records what auditors read. */
export class ReadRecord {
  readonly #mailbox: Mailbox<AuditorRead, ReadsState, ReadEvent, Refusal>
  readonly #clock: Clock

  constructor(dependencies: Dependencies) {
    this.#clock = dependencies.clock
    this.#mailbox = mailboxOf(READS_STREAM, reads, dependencies)
  }

  /** Why the auditor may not read now, as far as this process knows: it spares work whose record would be refused. */
  async refusalOf({ auditorId }: AuditorCaller): Promise<Refused | undefined> {
    return readRefusal(await this.#mailbox.state(), auditorId, this.#clock.nowMs())
  }

  /** Resolves once the record is durable. Rejects with Unavailable. */
  async add(caller: AuditorCaller, read: Omit<AuditorRead, 'auditorId'>): Promise<Answer<undefined>> {
    const outcome = await this.#mailbox.execute({ auditorId: caller.auditorId, ...read }, causeOf(caller))
    return 'refuse' in outcome ? outcome : answer(undefined)
  }

  /** The revision of the newest record; -1 if there is none. */
  async newest(): Promise<number> {
    await this.#mailbox.currentState()
    return this.#mailbox.revision
  }
}

/** A tail of this many events is read in a few milliseconds, so an earlier snapshot would not be worth its cost. */
const MIN_TAIL = 1000

/** Converts what is known of recent reads to a snapshot and back. It spares reading the record from its beginning. */
export const readsSnapshots: SnapshotForm<ReadsState> = {
  version: 1,
  worthAfter: () => MIN_TAIL,
  freeze: state => [...state],
  thaw: frozen => readsStateOf(frozen as Parameters<typeof readsStateOf>[0]),
}
