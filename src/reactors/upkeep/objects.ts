import { from, lastValueFrom, mergeMap, type Observable, toArray } from 'rxjs'
import { queues } from '../../../projections/due.ts'
import type { DeleteLeftTask, DeleteOutputTask, FileTask, ObjectTask, RunRow } from '../../../schemas/views.ts'
import type { Changes } from '../../engine/views/view-progress.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Random } from '../../ports/random.ts'
import type { OutputKeys } from '../../services/files/output-keys.ts'
import { readQueuedRun } from '../../services/runs/run-inputs.ts'
import { readRunRow } from '../../services/runs/run-rows.ts'
import type { UploadFinder } from '../../services/uploads/upload-finder.ts'
import type { UploadSettlement } from '../../services/uploads/upload-settlement.ts'
import { DueLoop } from '../due-loop.ts'
import { Leases } from '../leases.ts'
import { Erasure, type ErasureDependencies } from './erasure.ts'

/** Files that are inspected or deleted at a time. Each is read in full, and no client waits for it. */
const AT_A_TIME = 4

/** How often to look for due work. Files live for days, so a few more seconds do not matter. */
const POLL_MS = 5_000

interface Dependencies extends ErasureDependencies {
  objects: ObjectStore
  outputKeys: OutputKeys
  log: Pick<EventLog, 'readEvent'>
  finder: UploadFinder
  settlement: UploadSettlement
  clock: Clock
  random: Random
  logger: Logger
  leaseMs?: number | undefined
}

/** Deletes files that have expired, inspects uploads to presigned addresses, and erases accounts. */
export class ObjectsReactor {
  readonly #dependencies: Dependencies
  readonly #loop: DueLoop<ObjectTask>
  readonly #leases: Leases<string>
  readonly #erasure: Erasure
  #stopping = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#leases = new Leases(dependencies, 'object')
    this.#erasure = new Erasure(dependencies, task => this.#delete(task))
    this.#loop = new DueLoop(dependencies, {
      queues: queues.objects,
      pollMs: POLL_MS,
      takeRows: rows => this.#take(rows),
    })
  }

  start(changes: Observable<Changes>) {
    this.#leases.start()
    this.#loop.start(changes)
  }

  /** Finishes the work in progress, and leaves waiting tasks to the next process. */
  async stop() {
    this.#stopping = true
    await this.#loop.stop()
    await this.#leases.stop()
  }

  async #take(tasks: ObjectTask[]): Promise<ObjectTask[]> {
    const leased = await this.#leases.takeLeases(tasks.map(idOf))
    const doAll = mergeMap(async (task: ObjectTask) => leased.has(idOf(task)) && this.#do(task), AT_A_TIME)
    const done = await lastValueFrom(from(tasks).pipe(doAll, toArray()))
    // A task that keeps failing must not block later tasks. If all tasks fail, the store is down.
    return done.some(Boolean) ? [] : tasks
  }

  /** False if it has to wait. */
  async #do(task: ObjectTask): Promise<boolean> {
    if (this.#stopping) return false
    try {
      if (task.task === 'erase-account') await this.#erasure.erase(task.accountId)
      else if (isOfRun(task)) await this.#deleteFiles(task)
      else await this.#endUpload(task)
      // The lease is released only when the views show the outcome, so that no process repeats the task.
      await this.#dependencies.reads.ownWrites(task.accountId)
      return true
    } catch (error) {
      this.#dependencies.logger.error({ err: error, task }, 'files could not be deleted or inspected; retrying')
      return false
    } finally {
      this.#leases.releaseLease(idOf(task))
    }
  }

  async #deleteFiles(task: TaskOfRun): Promise<void> {
    const { objects, accounts, outputKeys } = this.#dependencies
    const { accountId, runId } = task
    const run = await readRunRow(this.#dependencies, accountId, runId)
    // The account would record a second deletion.
    if (run?.outputDeletedAt !== undefined) return
    // What a completed run has stored has the same keys.
    if (task.task === 'delete-left' && run?.status !== 'failed') return
    const derived = [...outputKeys.inputsOf(runId), outputKeys.thumbnailOf(runId)]
    const others = task.task === 'delete-left' ? outputKeys.allOf(runId) : [...task.objectKeys, ...derived]
    const keys = [...others, ...(await this.#imagesOf(run))]
    await objects.deleteAll(keys)
    await accounts.execute(caller, accountId, { type: 'RecordOutputDeletion', runId })
    // Until the record, a process that came too late to end the run keeps what it has stored: the end names the files.
    if (task.task === 'delete-output') await objects.deleteAll(keys)
  }

  /** The keys of the images in the messages of a run. */
  async #imagesOf(run: RunRow | undefined): Promise<string[]> {
    if (run?.queuedRevision === undefined) return []
    const { accountId, runId, queuedRevision } = run
    const { inputFiles = [] } = await readQueuedRun(this.#dependencies.log, { accountId, runId, queuedRevision })
    return inputFiles.map(({ objectKey }) => objectKey)
  }

  /** Deletes the files of a task before they are due. */
  async #delete(task: FileTask): Promise<void> {
    if (isOfRun(task)) return this.#deleteFiles(task)
    const upload = await this.#dependencies.finder.row(task.accountId, task.uploadId)
    if (upload) await this.#dependencies.settlement.remove(caller, upload, 'requested')
  }

  async #endUpload({ task, accountId, uploadId }: Exclude<FileTask, TaskOfRun>): Promise<void> {
    const { finder, settlement } = this.#dependencies
    // Another process may have done it since the task was read.
    const upload = await finder.row(accountId, uploadId)
    if (!upload) return
    if (upload.status === 'deleting') await settlement.remove(caller, upload, 'requested')
    else if (task === 'delete-upload') await settlement.remove(caller, upload, 'expired')
    else if (!upload.sealed) await settlement.seal(caller, upload)
  }
}

type TaskOfRun = DeleteOutputTask | DeleteLeftTask

const isOfRun = (task: ObjectTask): task is TaskOfRun => task.task === 'delete-output' || task.task === 'delete-left'

const idOf = (task: ObjectTask): string => {
  if (task.task === 'erase-account') return task.accountId
  return isOfRun(task) ? task.runId : task.uploadId
}

const caller = { kind: 'reactor' } as const
