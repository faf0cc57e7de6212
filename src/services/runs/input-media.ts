import { addAbortSignal } from 'node:stream'
import { MAX_PRESIGNED_BYTES } from '../../../schemas/primitives.ts'
import { type FilePlace, fileKindAt } from '../../domain/catalog/inputs.ts'
import { essenceOf, mimeTypeOf } from '../../domain/media-types.ts'
import type { FileRefusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { type FindInputMedia, type FoundMedia, type InputMedia, InputMediaError } from '../../ports/input-media.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { type Outbound, OutboundError, readSized } from '../../ports/outbound.ts'
import { delay } from '../../time/timers.ts'
import type { Addresses } from '../files/addresses.ts'
import { inspect } from '../uploads/inspection.ts'
import { inputRefusal } from '../uploads/upload-rules.ts'

/** More than vendors accept, and a third of the room for files, because the size of an image is known late or never. */
const MAX_FETCHED_BYTES = 25 * 1024 * 1024

/** An image of the maximum size takes this long at 10 Mbit/s; a run may take longer. */
const FETCH_TIMEOUT_MS = 20_000

interface Sources {
  outbound: Outbound
  objects: ObjectStore
  addresses: Addresses
  clock: Clock
  /** The sentence for the client, which the run that fails records. */
  messageOf: (parameter: FilePlace, refusal: FileRefusal) => string
}

/** Inspecting so much takes a few milliseconds. */
const SLICE_BYTES = 1024 * 1024

/**
 * Finds images and videos. Their bytes decide about their types, because servers and clients label them at will. Files
 * of this service are read from the store and not over the network.
 */
export const createInputMediaFinder =
  (sources: Sources): FindInputMedia =>
  async (address, parameter = 'image_url') => {
    const { maxBytes, load } = await find(address, sources)
    return {
      maxBytes,
      load: async (signal, onSize) => {
        const { mimeType: label, bytes } = await load(signal, onSize)
        const inspected = await inspect(slicesOf(bytes, sources.clock))
        const refusal = inputRefusal(inspected, fileKindAt(parameter), label)
        if (refusal) throw new InputMediaError(sources.messageOf(parameter, refusal))
        return { mimeType: inspected.mimeType as string, bytes }
      },
    }
  }

const find = async (address: string, { outbound, objects, addresses }: Sources): Promise<FoundMedia> => {
  if (/^data:/i.test(address)) return { maxBytes: address.length, load: () => decodeDataUrl(address) }
  if (!URL.canParse(address)) throw new InputMediaError('The address is not a URL.')
  const url = new URL(address)
  const key = addresses.keyOf(address)
  if (key !== undefined) return findObject(objects, key)
  return { maxBytes: MAX_FETCHED_BYTES, load: (signal, onSize) => fetchPublic(outbound, url, signal, onSize) }
}

/** The slices of a file, each in a turn of its own. */
export async function* slicesOf(bytes: Uint8Array, clock: Clock) {
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES) {
    if (at > 0) await delay(clock, 0)
    yield bytes.subarray(at, at + SLICE_BYTES)
  }
}

/**
 * The file in a `data:` URL, and its label. Rejects with InputMediaError if there is none. The platform's fetch reaches
 * no network: https://fetch.spec.whatwg.org/#data-urls
 */
export const decodeDataUrl = async (url: string): Promise<InputMedia> => plainlyDecoded(url) ?? (await fetched(url))

/** The usual form, of which the platform would need a second for 30 MB. Undefined for any other. */
const plainlyDecoded = (url: string): InputMedia | undefined => {
  const [head = '', mimeType = ''] = /^data:([\w.+-]+\/[\w.+-]+);base64,/i.exec(url.slice(0, MAX_HEAD)) ?? []
  if (head === '') return undefined
  const text = url.slice(head.length)
  const bytes = Buffer.from(text, 'base64')
  const isWhole = text.length % 4 === 0 && base64Length(bytes) === text.length
  return isWhole ? { mimeType: essenceOf(mimeType), bytes } : undefined
}

/** The head of a data: URL with the longest type. */
const MAX_HEAD = 200

/** The longest data: URL in another form. Decoding it takes the platform a few milliseconds. */
const MAX_UNUSUAL = 1024 * 1024

/** Four characters for three bytes, as far as all characters were Base64. */
const base64Length = (bytes: Uint8Array) => Math.ceil(bytes.byteLength / 3) * 4

const fetched = async (url: string): Promise<InputMedia> => {
  const undecodable = () => {
    throw new InputMediaError('The data: URL cannot be decoded.')
  }
  const decoded = url.length > MAX_UNUSUAL ? undecodable() : await fetch(url).catch(undecodable)
  const mimeType = essenceOf(decoded.headers.get('content-type') ?? '')
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
