import type { Artifact } from '../../../schemas/account-events.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import { sha256 } from '../../domain/digest.ts'
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
  bytes: Buffer
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

export const longParametersIn = (input: Input): LongParameter[] =>
  LONG_PARAMETERS.flatMap(name => {
    if (typeof input[name] !== 'object') return []
    const bytes = Buffer.from(JSON.stringify(input[name]))
    return bytes.byteLength > MAX_RECORDED_BYTES ? [{ name, bytes }] : []
  })

/** The input without these parameters. */
export const withoutLong = (input: Input, long: readonly LongParameter[]): Input =>
  Object.fromEntries(Object.entries(input).filter(([name]) => !long.some(each => each.name === name)))

/** Places for the images of a run. */
export const imagePlaces = (keys: OutputKeys, runId: RunId, images: readonly Attachment[]): InputPart[] =>
  images.map(({ inspected: { mimeType = '', sizeBytes, sha256 }, pieces }, index) => ({
    pieces,
    artifact: { objectKey: keys.imageKeyOf(runId, index, mimeType), mimeType, sizeBytes, sha256 },
  }))

/** Places for the parameters of a run. */
export const placesFor = (keys: OutputKeys, runId: RunId, long: readonly LongParameter[]): StoredParameter[] =>
  long.map(({ name, bytes }) => ({
    name,
    pieces: [bytes],
    artifact: {
      objectKey: keys.inputKeyOf(runId, LONG_PARAMETERS.indexOf(name)),
      mimeType: 'application/json',
      sizeBytes: bytes.byteLength,
      sha256: sha256(bytes),
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
