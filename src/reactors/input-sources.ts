import { MAX_PRESIGNED_BYTES, type RunId } from '../../schemas/primitives.ts'
import type { Clock } from '../ports/clock.ts'
import type { FindInputMedia, UseInputMedia } from '../ports/input-media.ts'
import { ByteRoom } from './byte-room.ts'
import type { RunSlots } from './run-slots.ts'
import { Slots } from './slots.ts'
import { adaptToHost } from './slow-hosts.ts'

/** Files that are loaded or in use at a time, of quick runs and of those that take minutes. */
const QUICK_SOURCES = 8
const LONG_SOURCES = 4

/**
 * The memory that they take together, of each kind: a file of the maximum size leaves room for one of a common size.
 * With both kinds, the service and its threads still fit into 600 MB.
 */
const SOURCE_BYTES = 1.5 * MAX_PRESIGNED_BYTES

interface Parts {
  find: FindInputMedia
  slots: RunSlots
  clock: Clock
}

/** Loads the files behind the inputs of runs, few at a time. A run holds no slot of its provider meanwhile. */
export class InputSources {
  readonly #parts: Parts
  readonly #quick = placesFor(QUICK_SOURCES)
  readonly #long = placesFor(LONG_SOURCES)
  readonly #missing = new Set<RunId>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Whether a run cannot go on before its source is loaded. */
  isMissing(runId: RunId): boolean {
    return this.#missing.has(runId)
  }

  readonly use: UseInputMedia = async ({ url, runId, accountId, isLong }, signal, use) => {
    const { find, slots, clock } = this.#parts
    const host = hostOf(url)
    const { sources, room } = isLong ? this.#long : this.#quick
    this.#missing.add(runId)
    slots.leave(runId)
    try {
      await sources.acquire(host, accountId, signal)
      try {
        const found = await find(url)
        const reserved = await room.reserve(accountId, found.maxBytes, signal)
        try {
          const load = () => found.load(signal, reserved.shrink)
          const media = await adaptToHost({ slots: sources, clock }, host, load)
          reserved.shrink(media.bytes.byteLength)
          this.#missing.delete(runId)
          await slots.retake(runId, signal)
          return await use(media)
        } finally {
          reserved.free()
        }
      } finally {
        sources.free(host, accountId)
      }
    } finally {
      this.#missing.delete(runId)
    }
  }
}

const placesFor = (files: number) => ({
  sources: new Slots({ each: files, total: files }),
  room: new ByteRoom(SOURCE_BYTES),
})

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : '')
