import { LRUCache } from 'lru-cache'
import type { UploadRow } from '../../../schemas/views.ts'
import { hasPlace, isLate } from '../../domain/account/uploads.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { ObjectFacts, ObjectStore } from '../../ports/object-store.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import type { Reads } from '../views/reads.ts'
import { inspect } from './inspection.ts'
import type { UploadFinder } from './upload-finder.ts'

/** Digests of files that can still be replaced, a few hundred bytes each. */
const MAX_DIGESTS = 1000

/**
 * `withdrawn`: the file was sent after its upload was deleted or its key was revoked, which an S3 server cannot know.
 */
type FileState = 'inspected' | 'uninspected' | 'withdrawn'

export interface FileStatesDependencies {
  objects: ObjectStore
  accounts: AccountMailboxes
  finder: UploadFinder
  reads: Reads
  log: EventLog
}

/** Decides whether an upload's file is the inspected file. A client can replace a file until it is sealed. */
export class FileStates {
  readonly #dependencies: FileStatesDependencies
  /** By key and entity tag. */
  readonly #digests = new LRUCache<string, string, Version>({
    max: MAX_DIGESTS,
    fetchMethod: (_place, _stale, { context }) => this.#readDigest(context),
  })

  constructor(dependencies: FileStatesDependencies) {
    this.#dependencies = dependencies
  }

  /** The state of an existing file. It counts as uninspected while the views or the log do not respond. */
  async of(key: string, facts: ObjectFacts): Promise<FileState> {
    try {
      const row = await this.#rowAt(key)
      if (!row) return 'withdrawn'
      if (await this.#isInspected(row, key, facts)) return 'inspected'
      const state = await this.#dependencies.accounts.currentState(row.accountId)
      const isWithdrawn = !hasPlace(row.uploadId, state) || isLate(row.uploadId, facts.storedAtMs, state)
      return isWithdrawn ? 'withdrawn' : 'uninspected'
    } catch (error) {
      if (error instanceof Unavailable) return 'uninspected'
      throw error
    }
  }

  async #rowAt(key: string): Promise<UploadRow | undefined> {
    const { finder, reads, log } = this.#dependencies
    const row = await finder.at(key)
    if (row?.status === 'stored') return row
    // The views may be a moment behind.
    await reads.passed(await log.head())
    return finder.at(key)
  }

  async #isInspected({ status, sealed, sha256 }: UploadRow, key: string, { etag }: ObjectFacts): Promise<boolean> {
    if (status !== 'stored') return false
    return sealed || sha256 === (await this.#digests.fetch(`${key} ${etag}`, { context: { key, etag } }))
  }

  /** Undefined if the file was replaced or deleted in the meantime. */
  async #readDigest({ key, etag }: Version): Promise<string | undefined> {
    const object = await this.#dependencies.objects.get(key)
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
