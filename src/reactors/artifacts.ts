import type { Artifact, RunOutput } from '../../schemas/account-events.ts'
import { MAX_INPUT_BYTES } from '../../schemas/primitives.ts'
import { sha256 } from '../domain/digest.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Outbound } from '../ports/outbound.ts'
import type { Done, Media } from '../ports/provider.ts'
import type { Random } from '../ports/random.ts'
import { newObjectKey } from '../services/object-keys.ts'

/** The longest text, as JSON: as long as an input may be. It is part of an event, whose size event stores limit. */
const MAX_TEXT_BYTES = MAX_INPUT_BYTES

/** The largest file that is copied from a provider: a minute of film in 4K. Memory holds many copies at once. */
const MAX_COPY_BYTES = 128 * 1024 * 1024

/** How long a copy may take. */
const COPY_TIMEOUT_MS = 120_000

interface Parts {
  objects: ObjectStore
  outbound: Outbound
  clock: Clock
  random: Random
  /** How long results are kept. */
  retentionMs: number
}

/** Stores the results of providers. */
export class Artifacts {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Resolves when the whole result is durable. Rejects if any part cannot be stored, or when the signal aborts. */
  async store({ media, text }: Done, signal: AbortSignal): Promise<RunOutput> {
    const stored = text === undefined ? {} : { text: fitting(text.toWellFormed()) }
    const artifacts = await Promise.all(media.map(one => this.#storeOne(one, signal)))
    const { clock, retentionMs } = this.#parts
    const willDeleteAt = new Date(clock.nowMs() + retentionMs).toISOString()
    return { artifacts, ...stored, ...(artifacts.length > 0 && { willDeleteAt }) }
  }

  async #storeOne(media: Media, signal: AbortSignal): Promise<Artifact> {
    const { mimeType } = media
    const bytes = 'bytes' in media ? media.bytes : await this.#copy(media.url, signal)
    const objectKey = newObjectKey(this.#parts.random, 'outputs', mimeType)
    await this.#parts.objects.put(objectKey, bytes, mimeType)
    return { objectKey, mimeType, sizeBytes: bytes.byteLength, sha256: sha256(bytes) }
  }

  async #copy(url: string, signal: AbortSignal): Promise<Uint8Array> {
    return (await this.#parts.outbound.get(url, { maxBytes: MAX_COPY_BYTES, timeoutMs: COPY_TIMEOUT_MS, signal })).bytes
  }
}

const fitting = (text: string): string => {
  const bytes = Buffer.byteLength(JSON.stringify(text))
  if (bytes > MAX_TEXT_BYTES) throw new Error(`a text of ${bytes} bytes exceeds the limit of ${MAX_TEXT_BYTES}`)
  return text
}
