import { buffer } from 'node:stream/consumers'
import { LRUCache } from 'lru-cache'
import type { Artifact } from '../../../schemas/account-events.ts'
import type { RunRow } from '../../../schemas/views.ts'
import { Semaphore } from '../../flow/semaphore.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { PictureScaler } from '../../ports/picture-scaler.ts'
import { type Answer, answer } from '../answer.ts'
import type { AccountCaller } from '../caller.ts'

/** The longer side of a preview, in pixels. Models see pictures at about this size. */
const MAX_SIDE = 512

/** More than any family makes in a run. */
const MAX_PREVIEWS = 8

/** Decoding a larger file takes seconds. */
const MAX_FILE_BYTES = 32 * 1024 * 1024

/** The pictures that are in memory at a time, as they wait for the scaler. */
const ROOM_BYTES = 2 * MAX_FILE_BYTES

/** About a hundred previews: agents ask for the same run several times. */
const CACHE_BYTES = 8 * 1024 * 1024

interface Dependencies {
  objects: Pick<ObjectStore, 'get'>
  scaler: Pick<PictureScaler, 'scale'>
  logger: Logger
}

/** Scales the pictures of runs down, so that they fit the context of a model. */
export class Previews {
  readonly #dependencies: Dependencies
  readonly #room = new Semaphore({ each: ROOM_BYTES })
  readonly #known = new LRUCache<string, Uint8Array>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength,
  })

  readonly permissions = { ofRun: 'read' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** JPEGs of the pictures of a run that the caller has found. A picture that cannot be scaled is left out. */
  async ofRun(caller: AccountCaller, { output, outputDeletedAt }: RunRow, signal: AbortSignal) {
    const pictures = (outputDeletedAt === undefined ? (output?.artifacts ?? []) : []).filter(isSmallPicture)
    const shown = await Promise.all(
      pictures.slice(0, MAX_PREVIEWS).map(picture => this.#previewOf(caller, picture, signal)),
    )
    return answer(shown.filter(preview => preview !== undefined)) satisfies Answer<Uint8Array[]>
  }

  async #previewOf({ accountId }: AccountCaller, { objectKey, sizeBytes }: Artifact, signal: AbortSignal) {
    const { objects, scaler, logger } = this.#dependencies
    const known = this.#known.get(objectKey)
    if (known) return known
    try {
      const reserved = await this.#room.reserve('', accountId, sizeBytes, signal)
      try {
        // Another call may have made it meanwhile.
        const made = this.#known.get(objectKey)
        if (made) return made
        const object = await objects.get(objectKey)
        const bytes = object && new Uint8Array(await buffer(object.body))
        const preview = bytes && (await scaler.scale(bytes, MAX_SIDE, signal, accountId))
        if (preview) this.#known.set(objectKey, preview)
        return preview
      } finally {
        reserved.release()
      }
    } catch (error) {
      // The result is paid for, and shows the address of the picture without a preview.
      if (!signal.aborted) logger.warn({ err: error, objectKey }, 'a picture could not be scaled down')
      return undefined
    }
  }
}

const isSmallPicture = ({ mimeType, sizeBytes }: Artifact) =>
  mimeType.startsWith('image/') && sizeBytes <= MAX_FILE_BYTES
