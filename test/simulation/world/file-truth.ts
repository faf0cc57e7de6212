import { createHash } from 'node:crypto'
import type { RunOutput } from '../../../schemas/account-events.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import type { NewEvent } from '../../../src/ports/event-log.ts'
import { Known } from './known.ts'
import type { SimulatedBucket } from './object-store.ts'
import type { SimulatedProcess } from './process.ts'

interface Upload {
  accountId: string
  objectKey: string
  method: 'inline' | 'presigned'
  state: 'granted' | 'stored' | 'sealed' | 'deleting' | 'deleted'
  /** The position of the event that first recorded it as stored; -1 before. */
  position: number
  /** The digest of its file, each time that it was recorded. */
  digests: string[]
  willDeleteAtMs: number
  /** Whether a file arrived after the last look at its place. */
  isLate: boolean
}

/** The files that a client has sent for an upload. */
export interface SentFiles {
  uploadId: string
  /** The digests of acceptable files. */
  digests: Set<string>
  /** Whether it sent a file that is refused, which may take an acceptable one with it. */
  hasBad: boolean
}

/** Clocks differ by less, unless they jump. */
const MAX_SKEW_MS = 1_000

/** Follows the files in the log, and compares them with the bucket and the answers of clients. */
export class FileTruth {
  readonly #uploads = new Map<string, Upload>()
  readonly #byKey = new Map<string, Upload>()
  readonly #outputs = new Map<string, RunOutput>()
  /** The failed runs that may have left files. */
  readonly #left = new Set<string>()
  /** Results that may stay: the process that stored them too late may have died before it deleted them. */
  readonly #stray = new Set<string>()
  /** Uploads that a client was told are stored, and whether it asked for their deletion. */
  readonly #acknowledged = new Map<string, SentFiles>()
  readonly #asked = new Set<string>()
  readonly #shown = new Known()
  readonly #bucket: SimulatedBucket
  readonly #onViolation: (violation: string) => void
  /** Whether clocks may jump, so that a process may seal an upload before its grant ends. */
  mayJump = false
  /** Whether a request may take longer than a grant lasts. */
  mayDawdle = false
  /** Whether clocks may jump, and processes die. */
  mayStray = false

  constructor(bucket: SimulatedBucket, onViolation: (violation: string) => void) {
    this.#bucket = bucket
    this.#onViolation = onViolation
    bucket.onPut = key => this.#arrive(key)
  }

  /** Follows an append. */
  follow(stream: string, events: NewEvent[], firstPosition: number) {
    for (const [index, { type, data }] of events.entries()) {
      const accountId = stream.replace('account-', '')
      if (type.startsWith('Upload')) this.#step(type, accountId, data as UploadFacts, firstPosition + index)
      const { runId, output } = data as { runId: string; output?: RunOutput }
      // The output of a text model has no files to delete.
      if (type === 'RunCompleted' && output && output.artifacts.length > 0) {
        this.#outputs.set(runId, output)
        this.#expectArtifacts(runId)
      }
      if (type === 'RunFailed' && 'willDeleteAt' in (data as object)) this.#left.add(runId)
      if (type === 'RunOutputDeleted') {
        this.#left.delete(runId)
        // A process that comes too late to end the run may have stored a file again, and deletes it soon.
        for (const { objectKey } of this.#outputs.get(runId)?.artifacts ?? [])
          if (!this.mayJump && !this.mayDawdle) this.#expectNoFile(objectKey, runId)
        this.#outputs.delete(runId)
      }
    }
  }

  /** A client was shown an upload whose file has arrived. `sent` is what the client knows of it. */
  expectStored(sent: SentFiles, { sha256 }: UploadRow, process: SimulatedProcess) {
    const { uploadId, digests } = sent
    const upload = this.#uploads.get(uploadId)
    if (!upload || upload.position < 0)
      return this.#onViolation(`${uploadId} was shown as stored, and is not in the log`)
    if (!upload.digests.includes(sha256 ?? ''))
      this.#onViolation(`${uploadId} was shown with a file that is not in the log`)
    if (!digests.has(sha256 ?? '')) this.#onViolation(`${uploadId} was shown with a file that was not sent`)
    this.#acknowledged.set(uploadId, sent)
    this.#shown.note(upload.accountId, process, upload.position)
  }

  /** A client asks for the deletion of an upload. */
  noteDeletion(uploadId: string) {
    this.#asked.add(uploadId)
  }

  /** A client was told that an upload is deleted. */
  expectDeleted(uploadId: string) {
    const state = this.#uploads.get(uploadId)?.state
    if (state !== 'deleting' && state !== 'deleted')
      this.#onViolation(`${uploadId} was acknowledged as deleted, and is ${state} in the log`)
  }

  /** A client was not shown an upload by a process, of which it knew up to a position. */
  expectNotStored(uploadId: string, since: number) {
    const upload = this.#uploads.get(uploadId)
    if (!upload || (upload.state !== 'stored' && upload.state !== 'sealed')) return
    if (upload.position <= since) this.#onViolation(`${uploadId} was not shown, and is ${upload.state} in the log`)
  }

  /** The uploads that must be shown to a client that knows a position. */
  storedUpTo(accountId: string, reached: number): string[] {
    const isStored = ({ state, position }: Upload) => ['stored', 'sealed'].includes(state) && position <= reached
    return [...this.#uploads].flatMap(([id, upload]) =>
      upload.accountId === accountId && isStored(upload) ? [id] : [],
    )
  }

  /** The position of the newest upload that a process has shown. */
  shownUpTo(accountId: string, process: SimulatedProcess): number {
    return this.#shown.at(accountId, process)
  }

  /** A run was accepted that uses an upload. `wasDeleted` says whether its deletion was acknowledged before. */
  expectUsable(uploadId: string, wasDeleted: boolean) {
    const upload = this.#uploads.get(uploadId)
    if (!upload || upload.position < 0) return this.#onViolation(`${uploadId} was used, and is not stored`)
    if (wasDeleted && upload.method === 'inline') this.#onViolation(`${uploadId} was used after its deletion`)
  }

  /** A provider read the image of a run. A file that was sent directly is never replaced. */
  expectImage(key: string, bytes: Uint8Array) {
    const upload = this.#byKey.get(key)
    if (!upload) return this.#onViolation(`${key} was used, and was never granted`)
    if (upload.method === 'inline' && !upload.digests.includes(digestOf(bytes)))
      this.#onViolation(`${key} was used, and is not the file in the log`)
  }

  /**
   * The uploads that are neither sealed nor deleted, and the failed runs whose files are not deleted: there are none of
   * either once the grants have ended.
   */
  open(): string[] {
    const uploads = [...this.#uploads]
      .filter(([, { state }]) => state !== 'sealed' && state !== 'deleted')
      .map(([id, { state }]) => `${id} is still ${state}`)
    return [...uploads, ...[...this.#left].map(id => `what ${id} has left is still kept`)]
  }

  /** The uploads and the runs whose files exist. */
  kept(): string[] {
    const uploads = [...this.#uploads].filter(([, { state }]) => state !== 'deleted').map(([id]) => id)
    return [...uploads, ...this.#outputs.keys()].map(id => `the files of ${id} are still kept`)
  }

  /** Every file that the log names is there, and no upload's file that it does not. */
  expectFiles() {
    for (const runId of this.#outputs.keys()) this.#expectArtifacts(runId)
    for (const [uploadId, upload] of this.#uploads) if (upload.state === 'sealed') this.#expectUpload(uploadId, upload)
    const named = new Set([...this.#outputs.values()].flatMap(({ artifacts }) => artifacts.map(file => file.objectKey)))
    const isLeft = (key: string) => key.startsWith('outputs/') && !named.has(key) && !this.#stray.has(key)
    for (const key of this.#bucket.objects.keys()) {
      if (isLeft(key)) this.#onViolation(`${key} is left, and no run names it`)
      const upload = this.#byKey.get(key)
      if (key.startsWith('uploads/') && upload?.state !== 'sealed' && !upload?.isLate)
        this.#onViolation(`${key} is left, and its upload is ${upload?.state ?? 'unknown'}`)
    }
  }

  #step(type: string, accountId: string, data: UploadFacts, position: number) {
    const { uploadId } = data
    const upload = this.#uploads.get(uploadId)
    if (type === 'UploadGranted') return this.#grant(accountId, data)
    if (!upload) return
    if (type === 'UploadDeletionRequested') {
      // The service withdraws an upload whose key was revoked before its file was recorded.
      const isWithdrawn = upload.method === 'inline' && upload.state === 'granted'
      upload.state = 'deleting'
      if (!isWithdrawn && !this.#asked.has(uploadId))
        this.#onViolation(`${uploadId} is deleted, and nobody asked for it`)
    }
    if (type === 'UploadStored') {
      if (upload.position < 0) upload.position = position
      upload.state = data.sealed ? 'sealed' : 'stored'
      upload.digests.push(data.sha256)
      // Another file may have arrived since the inspection.
      if (data.sealed && this.#mayBeLate(upload)) upload.isLate ||= !this.#hasFile(upload.objectKey, data.sha256)
      if (data.sealed) this.#expectUpload(uploadId, upload)
    }
    if (type === 'UploadDeleted') {
      upload.state = 'deleted'
      this.#expectReason(uploadId, upload, data.reason)
      // It may have arrived between its deletion and the record of that.
      if (this.#mayBeLate(upload)) upload.isLate ||= this.#bucket.objects.has(upload.objectKey)
      else this.#expectNoFile(upload.objectKey, uploadId)
    }
  }

  #grant(accountId: string, { uploadId, objectKey, method, willDeleteAt }: UploadFacts) {
    const willDeleteAtMs = Date.parse(willDeleteAt)
    const place = { accountId, objectKey, method, willDeleteAtMs }
    const upload: Upload = { ...place, state: 'granted', position: -1, digests: [], isLate: false }
    this.#uploads.set(uploadId, upload)
    this.#byKey.set(objectKey, upload)
    this.#expectNoFile(objectKey, uploadId)
  }

  #arrive(key: string) {
    if (this.mayStray) this.#stray.add(key)
    if (!key.startsWith('uploads/')) return
    const upload = this.#byKey.get(key)
    if (!upload) return this.#onViolation(`a file arrived at ${key} without a grant`)
    if (upload.state !== 'sealed' && upload.state !== 'deleted') return
    upload.isLate = true
    if (!this.#mayBeLate(upload)) this.#onViolation(`a file arrived at ${key}, and its upload was ${upload.state}`)
  }

  #mayBeLate({ method }: Upload): boolean {
    return this.mayJump || (this.mayDawdle && method === 'inline')
  }

  #expectReason(uploadId: string, { willDeleteAtMs }: Upload, reason: string) {
    const sent = this.#acknowledged.get(uploadId)
    if (this.mayJump) return
    if (reason === 'expired' && this.#bucket.nowMs() < willDeleteAtMs - MAX_SKEW_MS)
      this.#onViolation(`${uploadId} expired before its time`)
    if (reason !== 'expired' && !this.#asked.has(uploadId) && sent && !sent.hasBad)
      this.#onViolation(`${uploadId} was acknowledged, and is deleted as ${reason}`)
  }

  #expectUpload(uploadId: string, { objectKey, digests, isLate, willDeleteAtMs }: Upload) {
    if (this.#isKept(willDeleteAtMs) && !isLate && !this.#acknowledged.get(uploadId)?.hasBad)
      this.#expectFile(objectKey, digests.at(-1), uploadId)
  }

  #expectArtifacts(runId: string) {
    const { artifacts = [], willDeleteAt = '' } = this.#outputs.get(runId) ?? {}
    if (!this.#isKept(Date.parse(willDeleteAt))) return
    for (const { objectKey, sha256 } of artifacts) this.#expectFile(objectKey, sha256, runId)
  }

  /** A file goes before the log says so. */
  #isKept(willDeleteAtMs: number): boolean {
    return this.#bucket.nowMs() < willDeleteAtMs - MAX_SKEW_MS
  }

  #expectFile(key: string, sha256: string | undefined, owner: string) {
    const found = this.#bucket.objects.get(key)
    if (!found) return this.#onViolation(`the file ${key} of ${owner} is missing`)
    if (digestOf(found.bytes) !== sha256) this.#onViolation(`the file ${key} of ${owner} has other bytes`)
  }

  #hasFile(key: string, sha256: string): boolean {
    const found = this.#bucket.objects.get(key)
    return found !== undefined && digestOf(found.bytes) === sha256
  }

  #expectNoFile(key: string, owner: string) {
    if (this.#bucket.objects.has(key)) this.#onViolation(`the file ${key} of ${owner} exists`)
  }
}

/** The data of all events of uploads together. */
interface UploadFacts {
  uploadId: string
  objectKey: string
  method: Upload['method']
  willDeleteAt: string
  sealed: boolean
  sha256: string
  reason: string
}

export const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
