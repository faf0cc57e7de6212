import { createHash, createHmac } from 'node:crypto'
import type { Artifact } from '../../../schemas/account-events.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import { sha256 } from '../../domain/digest.ts'
import { canonicalJson } from '../../engine/log/hash-chain.ts'
import { isLongJson, jsonInPieces } from '../../json/pieces.ts'
import type { OutputKeys } from '../files/output-keys.ts'
import type { Attachment } from './attachments.ts'

type Input = Record<string, unknown>

/** The parameters that an agent fills with hundreds of kilobytes, and with images. */
const LONG_PARAMETERS = ['messages', 'tools']

/** The most bytes of such a parameter in an event, as JSON. */
const MAX_RECORDED_BYTES = 64 * 1024

/** A parameter that is too long for an event, as JSON. */
export interface LongParameter {
  name: string
  pieces: readonly Uint8Array[]
  sizeBytes: number
  sha256: string
}

/** A part of an input with its place in the object store. */
export interface InputPart {
  artifact: Artifact
  pieces: readonly Uint8Array[]
}

/** A long parameter with its place in the object store. */
export interface StoredParameter extends InputPart {
  name: string
}

export const longParametersIn = async (input: Input): Promise<LongParameter[]> => {
  const long: LongParameter[] = []
  for (const name of LONG_PARAMETERS) {
    const value = input[name]
    if (typeof value !== 'object') continue
    const found = isLongJson(value) ? await inPieces(value) : inOnePiece(value)
    if (found.sizeBytes > MAX_RECORDED_BYTES) long.push({ name, ...found })
  }
  return long
}

const inOnePiece = (value: unknown) => {
  const bytes = Buffer.from(JSON.stringify(value))
  return { pieces: [bytes], sizeBytes: bytes.byteLength, sha256: sha256(bytes) }
}

const inPieces = async (value: unknown) => {
  const hash = createHash('sha256')
  const pieces: Buffer[] = []
  let sizeBytes = 0
  for await (const piece of jsonInPieces(value)) {
    const bytes = Buffer.from(piece)
    hash.update(bytes)
    pieces.push(bytes)
    sizeBytes += bytes.byteLength
  }
  return { pieces, sizeBytes, sha256: hash.digest('hex') }
}

/**
 * The SHA-256 of the canonical JSON of a request, or its HMAC: without the key, nobody can tell a short request from
 * its digest by trying.
 */
export const requestHash = async (request: object, key?: Buffer): Promise<string> => {
  const hash = key ? createHmac('sha256', key) : createHash('sha256')
  if (!isLongJson(request)) return hash.update(canonicalJson(request)).digest('hex')
  for await (const piece of jsonInPieces(request, canonicalJson)) hash.update(piece)
  return hash.digest('hex')
}

/** The input without these parameters. */
export const withoutLong = (input: Input, long: readonly LongParameter[]): Input =>
  Object.fromEntries(Object.entries(input).filter(([name]) => !long.some(each => each.name === name)))

/** The images of a run by their SHA-256, as the `data:` URLs that the client sent. */
export const imageUrls = (images: readonly Attachment[]): Map<string, string> =>
  new Map(
    images.map(({ inspected: { mimeType, sha256 }, pieces }) => [
      sha256,
      `data:${mimeType};base64,${Buffer.concat(pieces).toString('base64')}`,
    ]),
  )

/** Places for the images of a run. */
export const imagePlaces = (keys: OutputKeys, runId: RunId, images: readonly Attachment[]): InputPart[] =>
  images.map(({ inspected: { mimeType = '', sizeBytes, sha256 }, pieces }, index) => ({
    pieces,
    artifact: { objectKey: keys.imageKeyOf(runId, index, mimeType), mimeType, sizeBytes, sha256 },
  }))

/** Places for the parameters of a run. */
export const placesFor = (keys: OutputKeys, runId: RunId, long: readonly LongParameter[]): StoredParameter[] =>
  long.map(({ name, pieces, sizeBytes, sha256 }) => ({
    name,
    pieces,
    artifact: {
      objectKey: keys.inputKeyOf(runId, LONG_PARAMETERS.indexOf(name)),
      mimeType: 'application/json',
      ...{ sizeBytes, sha256 },
    },
  }))

/** The input as its event holds it, with the digests and sizes of long parameters. */
export const recordedInput = (input: Input, stored: readonly StoredParameter[]): Input => ({
  ...input,
  ...Object.fromEntries(stored.map(({ name, artifact }) => [name, artifact])),
})

/** Whether the recorded value of a parameter names a file. No model has a parameter of this form. */
export const isStoredParameter = (value: unknown): value is Artifact =>
  typeof value === 'object' && value !== null && 'objectKey' in value && 'sha256' in value
