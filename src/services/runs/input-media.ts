import { addAbortSignal } from 'node:stream'
import { MAX_PRESIGNED_BYTES } from '../../../schemas/primitives.ts'
import { FILE_PARAMETERS, type FileKind } from '../../domain/catalog/file-parameters.ts'
import { mimeTypeOf } from '../../domain/media-types.ts'
import { type FindInputMedia, type FoundMedia, type InputMedia, InputMediaError } from '../../ports/input-media.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { type Outbound, OutboundError } from '../../ports/outbound.ts'
import { readSized } from '../../ports/read-sized.ts'
import type { Addresses } from '../addresses.ts'

/** More than vendors accept, and a third of the room for files, because the size of an image is known late or never. */
const MAX_FETCHED_BYTES = 25 * 1024 * 1024

/** An image of the maximum size takes this long at 10 Mbit/s; a run may take longer. */
const FETCH_TIMEOUT_MS = 20_000

interface Sources {
  outbound: Outbound
  objects: ObjectStore
  addresses: Addresses
}

/** Finds images and videos. Files of this service are read from the store and not over the network. */
export const createInputMediaFinder =
  (sources: Sources): FindInputMedia =>
  async (address, parameter = 'image_url') => {
    const kind = FILE_PARAMETERS[parameter]
    if (!URL.canParse(address)) throw new InputMediaError('The address is not a URL.')
    const { maxBytes, load } = await find(address, sources)
    return {
      maxBytes,
      load: async (signal, onSize) => {
        const { mimeType, bytes } = await load(signal, onSize)
        if (!mayBe(kind, mimeType))
          throw new InputMediaError(`The address returned ${mimeType}, not ${WITH_ARTICLE[kind]}.`)
        if (bytes.byteLength === 0) throw new InputMediaError(`The ${kind} is empty.`)
        return { mimeType, bytes }
      },
    }
  }

const find = async (address: string, { outbound, objects, addresses }: Sources): Promise<FoundMedia> => {
  const url = new URL(address)
  if (url.protocol === 'data:') return { maxBytes: address.length, load: () => decodeDataUrl(url) }
  const key = addresses.keyOf(address)
  if (key !== undefined) return findObject(objects, key)
  return { maxBytes: MAX_FETCHED_BYTES, load: (signal, onSize) => fetchPublic(outbound, url, signal, onSize) }
}

/** Servers may omit the type; then the provider inspects the bytes. */
const mayBe = (kind: FileKind, mimeType: string) =>
  mimeType.startsWith(`${kind}/`) || mimeType === 'application/octet-stream'

const WITH_ARTICLE: Record<FileKind, string> = { image: 'an image', video: 'a video' }

/**
 * The image in a `data:` URL. Rejects with InputMediaError if there is none. The platform's fetch reaches no network:
 * https://fetch.spec.whatwg.org/#data-urls
 */
export const decodeDataUrl = async (url: URL): Promise<InputMedia> => {
  const decoded = await fetch(url).catch(() => {
    throw new InputMediaError('The data: URL cannot be decoded.')
  })
  const [mimeType = ''] = (decoded.headers.get('content-type') ?? '').split(';')
  if (!mimeType.startsWith('image/')) throw new InputMediaError('The data: URL does not hold an image.')
  return { mimeType, bytes: new Uint8Array(await decoded.arrayBuffer()) }
}

const findObject = async (objects: ObjectStore, key: string): Promise<FoundMedia> => {
  const { sizeBytes } = (await objects.stat(key)) ?? missing()
  if (sizeBytes > MAX_PRESIGNED_BYTES)
    throw new InputMediaError(`The file is larger than ${MAX_PRESIGNED_BYTES} bytes.`)
  return { maxBytes: sizeBytes, load: signal => readObject(objects, key, sizeBytes, signal) }
}

const readObject = async (
  objects: ObjectStore,
  key: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<InputMedia> => {
  const { body, sizeBytes } = (await objects.get(key)) ?? missing()
  if (sizeBytes > maxBytes) {
    body.destroy()
    throw new InputMediaError('The file was replaced just now. Start the run again.')
  }
  return { mimeType: mimeTypeOf(key), bytes: await readSized(addAbortSignal(signal, body), sizeBytes) }
}

const missing = () => {
  throw new InputMediaError('This file does not exist or was deleted.')
}

const fetchPublic = async (
  outbound: Outbound,
  url: URL,
  signal: AbortSignal,
  onSize: (sizeBytes: number) => void,
): Promise<InputMedia> => {
  try {
    return await outbound.get(url.href, { maxBytes: MAX_FETCHED_BYTES, timeoutMs: FETCH_TIMEOUT_MS, signal, onSize })
  } catch (error) {
    throw error instanceof OutboundError ? new InputMediaError(error.message, { cause: error }) : error
  }
}
