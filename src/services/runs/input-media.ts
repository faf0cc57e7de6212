import { addAbortSignal } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { MAX_PRESIGNED_BYTES } from '../../../schemas/primitives.ts'
import { mimeTypeOf } from '../../domain/media-types.ts'
import { type InputMedia, InputMediaError, type LoadInputMedia } from '../../ports/input-media.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { type Outbound, OutboundError } from '../../ports/outbound.ts'
import type { Addresses } from '../addresses.ts'

/** More than vendors accept, and little enough that many concurrent runs can each hold one image in memory. */
const MAX_FETCHED_BYTES = 25 * 1024 * 1024

/** An image of the maximum size takes this long at 10 Mbit/s; a run may take longer. */
const FETCH_TIMEOUT_MS = 20_000

interface Sources {
  outbound: Outbound
  objects: ObjectStore
  addresses: Addresses
}

/** Loads images. Files of this service are read from the store and not over the network. */
export const createInputMediaLoader =
  (sources: Sources): LoadInputMedia =>
  async (address, signal) => {
    if (!URL.canParse(address)) throw new InputMediaError('The address is not a URL.')
    const { mimeType, bytes } = await load(address, sources, signal)
    if (!mayBeImage(mimeType)) throw new InputMediaError(`The address returned ${mimeType}, not an image.`)
    if (bytes.byteLength === 0) throw new InputMediaError('The image is empty.')
    return { mimeType, bytes }
  }

const load = (address: string, { outbound, objects, addresses }: Sources, signal: AbortSignal): Promise<InputMedia> => {
  const url = new URL(address)
  if (url.protocol === 'data:') return decodeDataUrl(url)
  const key = addresses.keyOf(address)
  return key === undefined ? fetchPublic(outbound, url, signal) : readObject(objects, key, signal)
}

/** Servers may omit the type; then the provider inspects the bytes. */
const mayBeImage = (mimeType: string) => mimeType.startsWith('image/') || mimeType === 'application/octet-stream'

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

const readObject = async (objects: ObjectStore, key: string, signal: AbortSignal): Promise<InputMedia> => {
  const object = await objects.get(key)
  if (!object) throw new InputMediaError('This file does not exist or was deleted.')
  if (object.sizeBytes > MAX_PRESIGNED_BYTES) {
    object.body.destroy()
    throw new InputMediaError(`The file is larger than ${MAX_PRESIGNED_BYTES} bytes.`)
  }
  return { mimeType: mimeTypeOf(key), bytes: await buffer(addAbortSignal(signal, object.body)) }
}

const fetchPublic = async (outbound: Outbound, url: URL, signal: AbortSignal): Promise<InputMedia> => {
  try {
    return await outbound.get(url.href, { maxBytes: MAX_FETCHED_BYTES, timeoutMs: FETCH_TIMEOUT_MS, signal })
  } catch (error) {
    throw error instanceof OutboundError ? new InputMediaError(error.message, { cause: error }) : error
  }
}
