import { LRUCache } from 'lru-cache'
import type { EventLog } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { ObjectFacts, ObjectStore } from '../../ports/object-store.ts'
import type { Reads } from '../reads.ts'
import { inspect } from './inspection.ts'
import type { UploadFinder } from './upload-finder.ts'

/** Digests of files that can still be replaced, a few hundred bytes each. */
const MAX_DIGESTS = 1000

export interface InspectedUploadsParts {
  objects: ObjectStore
  finder: UploadFinder
  reads: Reads
  log: EventLog
}

/** Tells whether a file is the one that the service inspected: a client can replace it until it is sealed. */
export class InspectedUploads {
  readonly #parts: InspectedUploadsParts
  /** By key and entity tag. */
  readonly #digests = new LRUCache<string, string, Version>({
    max: MAX_DIGESTS,
    fetchMethod: (_place, _stale, { context }) => this.#readDigest(context),
  })

  constructor(parts: InspectedUploadsParts) {
    this.#parts = parts
  }

  /** False, too, while the views or the log do not answer. */
  async has(key: string, { etag }: ObjectFacts): Promise<boolean> {
    const { finder, reads, log } = this.#parts
    try {
      let row = await finder.at(key)
      if (row?.status !== 'stored') {
        // The views may be a moment behind.
        await reads.passed(await log.head())
        row = await finder.at(key)
      }
      if (row?.status !== 'stored') return false
      return row.sealed || row.sha256 === (await this.#digests.fetch(`${key} ${etag}`, { context: { key, etag } }))
    } catch (error) {
      if (error instanceof Unavailable) return false
      throw error
    }
  }

  /** Undefined if the file was replaced or deleted since. */
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
