import { commonName, essenceOf } from '../../domain/media-types.ts'
import { ApiError } from '../api-error.ts'
import type { Inspected } from './inspection.ts'

/** What may be uploaded. */
export const takenTypes: readonly string[] = [
  ...['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'],
  ...['video/mp4', 'video/webm', 'video/quicktime'],
]

/**
 * The type that a client declares, by its registered name; undefined where it says nothing of it, as curl does for types that it
 * does not know. Throws unsupported_media_type for one that is not taken.
 */
export const declaredType = (text: string | undefined): string | undefined => {
  const mimeType = commonName(essenceOf(text ?? ''))
  if (saysNothing(mimeType)) return undefined
  if (!isTaken(mimeType))
    throw new ApiError(
      'unsupported_media_type',
      `${JSON.stringify(mimeType)} is declared, but only these types are taken: ${all}.`,
    )
  return mimeType
}

/** Why a file cannot be taken as what it was declared to be, if it was; undefined when it can. */
export const faultOf = (
  { sizeBytes, mimeType, alsoIs, isCutOff }: Inspected,
  declared = mimeType,
): string | undefined => {
  if (sizeBytes === 0) return 'The file is empty.'
  if (mimeType === undefined || !isTaken(mimeType))
    return `The file is ${mimeType ?? 'nothing that is known'}, but only these types are taken: ${all}.`
  if (mimeType !== declared) return `The file is ${mimeType}, but was declared as ${declared}.`
  if (isCutOff) return `The file is ${mimeType}, but its end is missing. Was it saved in full?`
  return alsoIs && `The file is ${mimeType} and ${alsoIs} at once.`
}

/**
 * Why a file cannot be taken that a client has sent to the object store as a type: a front of the store would serve it as that.
 * Undefined when it can, and when the client said nothing.
 */
export const sendingFault = (sentAs: string | undefined, declared: string): string | undefined => {
  const mimeType = commonName(essenceOf(sentAs ?? ''))
  if (saysNothing(mimeType) || mimeType === declared) return undefined
  return `The file was sent as ${mimeType}, but was declared as ${declared}. Send it with Content-Type: ${declared}.`
}

const isTaken = (mimeType: string) => takenTypes.includes(mimeType)

const saysNothing = (mimeType: string) => ['', 'application/octet-stream', 'binary/octet-stream'].includes(mimeType)

const all = takenTypes.join(', ')
