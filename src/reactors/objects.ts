import pLimit from 'p-limit'
import type { Observable } from 'rxjs'
import { queues } from '../../projections/due.ts'
import { runKey } from '../../projections/runs.ts'
import { uploadKey } from '../../projections/uploads.ts'
import type { DeleteOutputTask, ObjectTask } from '../../schemas/views.ts'
import type { Changes } from '../engine/views/progress.ts'
import type { Reads } from '../engine/views/reads.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { ViewStore } from '../ports/view-store.ts'
import type { Accounts } from '../services/accounts/accounts.ts'
import type { UploadSettlement } from '../services/uploads/upload-settlement.ts'
import { DueLoop } from './due-loop.ts'
import { Leases } from './leases.ts'

/** Files that are looked at or taken away at a time: each is read in full, and nobody waits for it. */
const AT_A_TIME = 4

/** How often due work is looked for. Files live for days, so that a few seconds more do not matter. */
const POLL_MS = 5_000

interface Parts {
  accounts: Accounts
  objects: ObjectStore
  settlement: UploadSettlement
  reads: Reads
  views: ViewStore
  clock: Clock
  logger: Logger
}

/** Takes away files whose time is over, and looks at what has come of grants. */
export class ObjectsReactor {
  readonly #parts: Parts
  readonly #loop: DueLoop<ObjectTask>
  readonly #leases: Leases<string>
  #stopping = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#leases = new Leases(parts, 'object')
    this.#loop = new DueLoop(parts, { queues: queues.objects, pollMs: POLL_MS, take: rows => this.#take(rows) })
  }

  start(changes: Observable<Changes>) {
    this.#leases.start()
    this.#loop.start(changes)
  }

  /** Ends the work in progress; the rest is left to the next process. */
  async stop() {
    this.#stopping = true
    await this.#loop.stop()
    await this.#leases.stop()
  }

  async #take(tasks: ObjectTask[]): Promise<boolean> {
    const leased = await this.#leases.take(tasks.map(idOf))
    const limit = pLimit(AT_A_TIME)
    const done = await Promise.all(tasks.map(task => limit(() => leased.has(idOf(task)) && this.#do(task))))
    // What fails again and again must not hide what is behind it; where all fails, the store does.
    return done.some(Boolean)
  }

  /** False when it has to wait. */
  async #do(task: ObjectTask): Promise<boolean> {
    if (this.#stopping) return false
    try {
      if (task.task === 'delete-output') await this.#deleteOutput(task)
      else await this.#endUpload(task)
      // The task is given back only when the views show that it is done, so that nobody does it again.
      await this.#parts.reads.ownWrites(task.accountId)
      return true
    } catch (error) {
      this.#parts.logger.error({ err: error, task }, 'a file could not be looked after now')
      return false
    } finally {
      this.#leases.release(idOf(task))
    }
  }

  async #deleteOutput({ accountId, runId, objectKeys }: DeleteOutputTask): Promise<void> {
    const { objects, accounts, reads } = this.#parts
    // The account would not refuse to record it twice.
    const run = await reads.get('runs', runKey(accountId, runId))
    if (run?.outputDeletedAt !== undefined) return
    for (const key of objectKeys) await objects.delete(key)
    await accounts.execute(accountId, { type: 'RecordOutputDeletion', runId }, cause)
  }

  async #endUpload({ task, accountId, uploadId }: Exclude<ObjectTask, DeleteOutputTask>): Promise<void> {
    const { reads, settlement } = this.#parts
    // Another process may have done it since the task was read.
    const upload = await reads.get('uploads', uploadKey(accountId, uploadId))
    if (!upload) return
    if (upload.status === 'deleting') await settlement.remove(upload, 'requested', cause)
    else if (task === 'delete-upload') await settlement.remove(upload, 'expired', cause)
    else if (!upload.sealed) await settlement.seal(upload, cause)
  }
}

const idOf = (task: ObjectTask): string => (task.task === 'delete-output' ? task.runId : task.uploadId)

const cause = { actor: { kind: 'reactor' } } as const
