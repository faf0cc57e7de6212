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

/** Records the reads of auditors. */
export class ReadRecord {
  readonly #mailbox: Mailbox<AuditorRead, ReadsState, ReadEvent, Refusal>
  readonly #clock: Clock

  constructor(dependencies: Dependencies) {
    this.#clock = dependencies.clock
    this.#mailbox = mailboxOf(READS_STREAM, reads, dependencies)
  }

  /** The reason to refuse the auditor, as far as this process knows. Saves work that the record would refuse. */
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

/** Reading this many events takes a few milliseconds, so more frequent snapshots are not worth their cost. */
const MIN_TAIL = 1000

/** Converts the state of recent reads to a snapshot and back, so that the stream need not be read from its start. */
export const readsSnapshots: SnapshotForm<ReadsState> = {
  version: 1,
  worthAfter: () => MIN_TAIL,
  freeze: state => [...state],
  thaw: frozen => readsStateOf(frozen as Parameters<typeof readsStateOf>[0]),
}
