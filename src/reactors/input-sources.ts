import type { RunId } from '../../schemas/primitives.ts'
import type { Clock } from '../ports/clock.ts'
import type { LoadInputMedia, UseInputMedia } from '../ports/input-media.ts'
import type { RunSlots } from './run-slots.ts'
import { Slots } from './slots.ts'
import { adaptToHost } from './slow-hosts.ts'

/** Files in memory at a time, of quick runs and of those that take minutes. Each may have 50 MB. */
const QUICK_SOURCES = 8
const LONG_SOURCES = 4

interface Parts {
  load: LoadInputMedia
  slots: RunSlots
  clock: Clock
}

/** Loads the files behind the inputs of runs, few at a time. A run holds no slot of its provider meanwhile. */
export class InputSources {
  readonly #parts: Parts
  readonly #quick = new Slots({ each: QUICK_SOURCES, total: QUICK_SOURCES })
  readonly #long = new Slots({ each: LONG_SOURCES, total: LONG_SOURCES })
  readonly #missing = new Set<RunId>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Whether a run cannot go on before its source is loaded. */
  isMissing(runId: RunId): boolean {
    return this.#missing.has(runId)
  }

  readonly use: UseInputMedia = async ({ url, runId, accountId, isLong }, signal, use) => {
    const { load, slots, clock } = this.#parts
    const host = hostOf(url)
    const sources = isLong ? this.#long : this.#quick
    this.#missing.add(runId)
    slots.leave(runId)
    try {
      await sources.acquire(host, accountId, signal)
      try {
        const media = await adaptToHost({ slots: sources, clock }, host, () => load(url, signal))
        this.#missing.delete(runId)
        await slots.retake(runId, signal)
        return await use(media)
      } finally {
        sources.free(host, accountId)
      }
    } finally {
      this.#missing.delete(runId)
    }
  }
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : '')
