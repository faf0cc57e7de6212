import { randomBytes } from 'node:crypto'
import type { Artifact, RunOutput } from '../../schemas/account-events.ts'
import { folders } from '../engine/addresses.ts'
import { sha256 } from '../engine/canonical.ts'
import { endingFor } from '../engine/media-types.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Outbound } from '../ports/outbound.ts'
import type { Done, Media } from '../ports/provider.ts'

/** The largest result that is copied from a provider's address: a minute of film in 4K. It is held in memory, and many at once. */
const MAX_COPY_BYTES = 128 * 1024 * 1024

/** How long such a copy may take. */
const COPY_TIMEOUT_MS = 120_000

/** Puts what providers have made into the object store. */
export class Artifacts {
  readonly #objects: ObjectStore
  readonly #outbound: Outbound
  readonly #clock: Clock
  readonly #keepMs: number

  /** Results are kept for so many milliseconds. */
  constructor(objects: ObjectStore, outbound: Outbound, clock: Clock, keepMs: number) {
    this.#objects = objects
    this.#outbound = outbound
    this.#clock = clock
    this.#keepMs = keepMs
  }

  /** Resolves when all is durable. Copies are broken off when the signal aborts. */
  async store({ media, text }: Done, signal: AbortSignal): Promise<RunOutput> {
    const artifacts = await Promise.all(media.map(one => this.#storeOne(one, signal)))
    const willDeleteAt = new Date(this.#clock.nowMs() + this.#keepMs).toISOString()
    return {
      artifacts,
      ...(text !== undefined && { text: text.toWellFormed() }),
      ...(artifacts.length > 0 && { willDeleteAt }),
    }
  }

  async #storeOne(media: Media, signal: AbortSignal): Promise<Artifact> {
    const { mimeType } = media
    const bytes = 'bytes' in media ? media.bytes : await this.#copy(media.url, signal)
    const objectKey = `${folders.outputs}/${randomBytes(16).toString('hex')}.${endingFor(mimeType)}`
    await this.#objects.put(objectKey, bytes, mimeType)
    return { objectKey, mimeType, sizeBytes: bytes.byteLength, sha256: sha256(bytes) }
  }

  async #copy(url: string, signal: AbortSignal): Promise<Uint8Array> {
    return (await this.#outbound.get(url, { maxBytes: MAX_COPY_BYTES, timeoutMs: COPY_TIMEOUT_MS, signal })).bytes
  }
}
