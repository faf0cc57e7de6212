import type { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import type { UploadRow } from '../../schemas/views.ts'
import { hasPlace, isLate, sendRefusal } from '../domain/account/uploads.ts'
import { type Refusal, refuse } from '../domain/refusal.ts'
import type { EventLog } from '../ports/event-log.ts'
import { Unavailable } from '../ports/faults.ts'
import {
  type ByteRange,
  type IncomingPut,
  type ObjectFacts,
  type ObjectStore,
  type PutGrant,
  PutRefused,
} from '../ports/object-store.ts'
import type { AccountMailboxes } from './accounts/account-mailboxes.ts'
import { type Answer, answer } from './answer.ts'
import type { Caller } from './caller.ts'
import { isUploadKey } from './object-keys.ts'
import type { Reads } from './reads.ts'
import { inspect } from './uploads/inspection.ts'
import { readPurpose } from './uploads/put-purpose.ts'
import type { UploadFinder } from './uploads/upload-finder.ts'

/** Digests of files that can still be replaced, a few hundred bytes each. */
const MAX_DIGESTS = 1000

/** `isInspected` is false for an upload that may hold anything, whatever type its key says. */
export interface FileFacts extends ObjectFacts {
  isInspected: boolean
}

interface Parts {
  objects: ObjectStore
  accounts: AccountMailboxes
  finder: UploadFinder
  reads: Reads
  log: EventLog
}

/** Results and uploads, for anyone who has their address. */
export class Files {
  readonly #parts: Parts
  /** By key and entity tag. */
  readonly #digests = new LRUCache<string, string, Version>({
    max: MAX_DIGESTS,
    fetchMethod: (_place, _stale, { context }) => this.#readDigest(context),
  })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Undefined if there is no such file, or only one that was sent to a withdrawn address. */
  async stat(_caller: Caller, key: string): Promise<Answer<FileFacts | undefined>> {
    const facts = await this.#parts.objects.stat(key)
    if (!facts || !isUploadKey(key)) return answer(facts && { ...facts, isInspected: true })
    return answer(await this.#uploadFacts(key, facts))
  }

  /** The bytes of a file whose facts are known. Rejects with Unavailable if the file was replaced since. */
  async read(_caller: Caller, key: string, { etag }: ObjectFacts, range?: ByteRange): Promise<Answer<Readable>> {
    const object = await this.#parts.objects.get(key, range)
    if (object?.etag === etag) return answer(object.body)
    object?.body.destroy()
    throw new Unavailable(`${key} was replaced or deleted just now`)
  }

  /** Receives a file sent to a presigned address of this service, and returns its facts. Rejects with Unavailable. */
  async receive(_caller: Caller, put: IncomingPut): Promise<Answer<ObjectFacts | undefined>> {
    const { objects, accounts } = this.#parts
    let isGone = async () => false
    const admit = async ({ purpose }: PutGrant) => {
      const { accountId, ...sent } = readPurpose(purpose)
      const refusal = sendRefusal(sent, await accounts.currentState(accountId))
      if (refusal) throw new PutRefused(refusal)
      isGone = async () => !hasPlace(sent.uploadId, await accounts.currentState(accountId))
    }
    const refusal = await objects.acceptPut?.(put, admit).catch(refusalOf)
    if (refusal) return { refuse: refusal }
    // The upload's deletion may have come before its file.
    if (await isGone()) {
      await objects.delete(put.key)
      return refuse('put_address_withdrawn')
    }
    return answer(await objects.stat(put.key))
  }

  async #uploadFacts(key: string, facts: ObjectFacts): Promise<FileFacts | undefined> {
    try {
      const row = await this.#uploadAt(key)
      if (!row) return undefined
      if (await this.#isInspected(row, facts)) return { ...facts, isInspected: true }
      const state = await this.#parts.accounts.currentState(row.accountId)
      const isWithdrawn = !hasPlace(row.uploadId, state) || isLate(row.uploadId, facts.storedAtMs, state)
      return isWithdrawn ? undefined : { ...facts, isInspected: false }
    } catch (error) {
      if (error instanceof Unavailable) return { ...facts, isInspected: false }
      throw error
    }
  }

  async #uploadAt(key: string): Promise<UploadRow | undefined> {
    const { finder, reads, log } = this.#parts
    const row = await finder.at(key)
    if (row?.status === 'stored') return row
    // The views may be a moment behind.
    await reads.passed(await log.head())
    return finder.at(key)
  }

  /** A client can still replace a file that is not sealed, so it is compared with the one that was inspected. */
  async #isInspected(row: UploadRow, { etag }: ObjectFacts): Promise<boolean> {
    if (row.status !== 'stored') return false
    const { sealed, sha256, objectKey: key } = row
    return sealed || sha256 === (await this.#digests.fetch(`${key} ${etag}`, { context: { key, etag } }))
  }

  async #readDigest({ key, etag }: Version): Promise<string | undefined> {
    const object = await this.#parts.objects.get(key)
    if (object?.etag === etag) return (await inspect(object.body)).sha256
    object?.body.destroy()
    return undefined
  }
}

/** A file with its entity tag. */
interface Version {
  key: string
  etag: string
}

const refusalOf = (error: unknown): Refusal => {
  if (error instanceof PutRefused) return error.refusal
  throw error
}
