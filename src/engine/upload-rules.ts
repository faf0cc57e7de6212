import { uploadTypes } from '../../schemas/primitives.ts'
import { ApiError } from './api-error.ts'
import type { Inspected } from './inspection.ts'
import { commonName, essenceOf } from './media-types.ts'

/**
 * The type that a client declares, without parameters and by its registered name. Throws unsupported_media_type for one that
 * is not taken, and for none.
 */
export const declaredType = (text: string | undefined): string => {
  const mimeType = essenceOf(text ?? '')
  const registered = commonName(mimeType)
  if (!isTaken(registered))
    throw new ApiError(
      'unsupported_media_type',
      `${named(mimeType)} is declared, but only these types are taken: ${all}.`,
    )
  return registered
}

/** Why a file cannot be taken as what it was declared to be; undefined when it can. */
export const faultOf = ({ sizeBytes, mimeType, alsoIs }: Inspected, declared: string): string | undefined => {
  if (sizeBytes === 0) return 'The file is empty.'
  if (mimeType === undefined || !isTaken(mimeType))
    return `The file is ${mimeType ?? 'nothing that is known'}, but only these types are taken: ${all}.`
  if (mimeType !== declared) return `The file is ${mimeType}, but was declared as ${declared}.`
  return alsoIs && `The file is ${mimeType} and ${alsoIs} at once.`
}

/**
 * Why a file cannot be taken that a client has sent to the object store as a type: a front of the store would serve it as that.
 * Undefined when it can, and when the client said nothing.
 */
export const sendingFault = (sentAs: string | undefined, declared: string): string | undefined => {
  const mimeType = essenceOf(sentAs ?? '')
  if (['', 'application/octet-stream', 'binary/octet-stream', declared].includes(commonName(mimeType))) return undefined
  return `The file was sent as ${mimeType}, but was declared as ${declared}. Send it with Content-Type: ${declared}.`
}

const isTaken = (mimeType: string) => (uploadTypes as readonly string[]).includes(mimeType)

const named = (mimeType: string) => (mimeType === '' ? 'No type' : JSON.stringify(mimeType))

const all = uploadTypes.join(', ')
