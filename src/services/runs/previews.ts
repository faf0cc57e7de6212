import { buffer } from 'node:stream/consumers'
import { LRUCache } from 'lru-cache'
import { runKey } from '../../../projections/runs.ts'
import type { Artifact } from '../../../schemas/account-events.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import { Semaphore } from '../../flow/semaphore.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { PictureScaler } from '../../ports/picture-scaler.ts'
import { type Answer, answer } from '../answer.ts'
import type { AccountCaller } from '../caller.ts'
import type { OutputKeys } from '../files/output-keys.ts'
import type { Reads } from '../views/reads.ts'

/** The longer side of a preview, in pixels. Models see pictures at about this size. */
const MAX_SIDE = 512

/** The width of a thumbnail in pixels: enough for a quarter of a wide screen. */
const THUMBNAIL_WIDTH = 320

/** More than any family makes in a run. */
const MAX_PREVIEWS = 8

/** Decoding a larger file takes seconds. */
const MAX_FILE_BYTES = 32 * 1024 * 1024

/** The pictures that are in memory at a time, as they wait for the scaler. */
const ROOM_BYTES = 2 * MAX_FILE_BYTES

/** About a hundred previews: agents ask for the same run several times. */
const CACHE_BYTES = 8 * 1024 * 1024

interface Dependencies {
  objects: Pick<ObjectStore, 'get' | 'put' | 'delete'>
  outputKeys: Pick<OutputKeys, 'thumbnailOf'>
  reads: Pick<Reads, 'getOwn'>
  scaler: Pick<PictureScaler, 'scale' | 'scaleToWidth'>
  logger: Logger
}

/** Scales the pictures of runs down, so that they fit the context of a model, or a tile of a gallery. */
export class Previews {
  readonly #dependencies: Dependencies
  readonly #room = new Semaphore({ each: ROOM_BYTES })
  readonly #known = new LRUCache<string, Uint8Array>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength,
  })

  /** Thumbnails in the making, by run. */
  readonly #making = new Map<RunId, Promise<Uint8Array | undefined>>()

  readonly permissions = { ofRun: 'read', thumbnailOf: 'read' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** JPEGs of the pictures of a run that the caller has found. A picture that cannot be scaled is left out. */
  async ofRun(caller: AccountCaller, { output, outputDeletedAt, store }: RunRow, signal: AbortSignal) {
    const pictures = (outputDeletedAt === undefined ? (output?.artifacts ?? []) : []).filter(isSmallPicture)
    const shown = await Promise.all(
      pictures.slice(0, MAX_PREVIEWS).map(picture => this.#previewOf(caller, picture, signal, store)),
    )
    return answer(shown.filter(preview => preview !== undefined)) satisfies Answer<Uint8Array[]>
  }

  /**
   * A WebP of the first picture of a run that the caller has found. It is made once and kept as long as the files of
   * the run. Undefined if there is no picture, if it cannot be scaled, or if nothing of the run is kept.
   */
  async thumbnailOf(caller: AccountCaller, row: RunRow): Promise<Answer<Uint8Array | undefined>> {
    const { objects, outputKeys } = this.#dependencies
    const { runId, output, outputDeletedAt, store } = row
    const picture = output?.artifacts[0]
    if (!picture || store === false || outputDeletedAt !== undefined || !isSmallPicture(picture))
      return answer(undefined)
    const known = await objects.get(outputKeys.thumbnailOf(runId))
    if (known) return answer(new Uint8Array(await buffer(known.body)))
    const making = this.#making.get(runId) ?? this.#makeThumbnail(caller, row, picture)
    this.#making.set(runId, making)
    return answer(await making.finally(() => this.#making.delete(runId)))
  }

  /** Other clients may wait for the same thumbnail, so it is made even if the first client leaves. */
  async #makeThumbnail({ accountId }: AccountCaller, { runId }: RunRow, { objectKey, sizeBytes }: Artifact) {
    const { objects, outputKeys, reads, scaler, logger } = this.#dependencies
    try {
      const reserved = await this.#room.reserve('', accountId, sizeBytes, never)
      try {
        const object = await objects.get(objectKey)
        const bytes = object && new Uint8Array(await buffer(object.body))
        const thumbnail = bytes && (await scaler.scaleToWidth(bytes, THUMBNAIL_WIDTH, never, accountId))
        if (!thumbnail) return undefined
        const key = outputKeys.thumbnailOf(runId)
        await objects.put(key, thumbnail, 'image/webp')
        // The files of the run may have been deleted meanwhile, and this one with them before it was there.
        const now = await reads.getOwn(accountId, 'runs', runKey(accountId, runId))
        if (now?.outputDeletedAt !== undefined) await objects.delete(key)
        return thumbnail
      } finally {
        reserved.release()
      }
    } catch (error) {
      logger.warn({ err: error, objectKey }, 'a thumbnail could not be made')
      return undefined
    }
  }

  async #previewOf(
    { accountId }: AccountCaller,
    { objectKey, sizeBytes }: Artifact,
    signal: AbortSignal,
    store?: false,
  ) {
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
        if (preview && store !== false) this.#known.set(objectKey, preview)
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

/** Several clients wait for the same thumbnail, and later ones will. */
const never = new AbortController().signal

const isSmallPicture = ({ mimeType, sizeBytes }: Artifact) =>
  mimeType.startsWith('image/') && sizeBytes <= MAX_FILE_BYTES
