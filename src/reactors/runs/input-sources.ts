import { MAX_PRESIGNED_BYTES, type RunId } from '../../../schemas/primitives.ts'
import type { FilePlace } from '../../domain/catalog/inputs.ts'
import { isHttp } from '../../domain/http-url.ts'
import { Semaphore } from '../../flow/semaphore.ts'
import { adaptToHost } from '../../flow/slow-hosts.ts'
import type { Clock } from '../../ports/clock.ts'
import {
  type FindInputMedia,
  type InputFile,
  type InputMedia,
  InputMediaError,
  type UseInputMedia,
} from '../../ports/input-media.ts'
import type { ProviderPermits } from './provider-permits.ts'

/** Files that are loaded or in use at a time: of quick runs, and of runs that take minutes. */
const QUICK_SOURCES = 8
const LONG_SOURCES = 4

/**
 * The memory that they take together, of each kind: a file of the maximum size leaves room for one of a common size.
 * With both kinds, the service and its threads still fit into 600 MB.
 */
const SOURCE_BYTES = 1.5 * MAX_PRESIGNED_BYTES

interface Dependencies {
  find: FindInputMedia
  permits: ProviderPermits
  clock: Clock
}

/** Loads the files behind the inputs of runs, few at a time. A run holds no permit of its provider meanwhile. */
export class InputSources {
  readonly #dependencies: Dependencies
  readonly #quick = placesFor(QUICK_SOURCES)
  readonly #long = placesFor(LONG_SOURCES)
  /** The parameters whose files are being loaded. */
  readonly #missing = new Map<RunId, FilePlace>()

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The parameter whose file a run waits for; undefined if it waits for none. */
  missing(runId: RunId): FilePlace | undefined {
    return this.#missing.get(runId)
  }

  readonly use: UseInputMedia = async ({ further = [], runId, accountId, isLong, ...first }, signal, use) => {
    const { permits, clock } = this.#dependencies
    const host = hostOf(first.url)
    const { sources, room } = isLong ? this.#long : this.#quick
    this.#missing.set(runId, first.parameter ?? 'image_url')
    permits.suspendPermit(runId)
    try {
      await sources.acquire(host, accountId, signal)
      try {
        // They share one place and one reservation: runs that waited for a second one could block each other.
        const files = await Promise.all([first, ...further].map(file => this.#find(file)))
        const sizes = files.map(({ maxBytes }) => maxBytes)
        const reserved = await room.reserve('', accountId, sum(sizes), signal)
        try {
          const media: InputMedia[] = []
          for (const [index, { url, parameter, load }] of files.entries()) {
            if (parameter) this.#missing.set(runId, parameter)
            const onSize = (sizeBytes: number) => {
              sizes[index] = sizeBytes
              reserved.shrink(sum(sizes))
            }
            const loaded = await adaptToHost({ limits: sources, clock }, hostOf(url), () => load(signal, onSize))
            onSize(loaded.bytes.byteLength)
            media.push(loaded)
          }
          this.#missing.delete(runId)
          await permits.resumePermit(runId, signal)
          return await use(...(media as [InputMedia, ...InputMedia[]]))
        } finally {
          reserved.release()
        }
      } finally {
        sources.release(host, accountId)
      }
    } finally {
      this.#missing.delete(runId)
    }
  }

  /** Errors name the parameter. */
  async #find({ url, parameter }: InputFile) {
    const named = (error: unknown) => {
      if (error instanceof InputMediaError && parameter) error.parameter = parameter
      throw error
    }
    const { maxBytes, load } = await this.#dependencies.find(url, parameter).catch(named)
    return { url, parameter, maxBytes, load: (...args: Parameters<typeof load>) => load(...args).catch(named) }
  }
}

const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0)

const placesFor = (files: number) => ({
  sources: new Semaphore({ each: files, total: files }),
  room: new Semaphore({ each: SOURCE_BYTES }),
})

/** A data: URL has none. */
const hostOf = (url: string) => (isHttp(url) && URL.canParse(url) ? new URL(url).host : '')
