import { specificType } from '../../domain/media-types.ts'
import type { ContentRefusal, RefusalOf } from '../../domain/refusal.ts'
import type { InspectionResult } from './inspection.ts'

/** The types of files that are accepted. */
export const acceptedImages: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif']
export const acceptedTypes: readonly string[] = [...acceptedImages, 'video/mp4', 'video/webm', 'video/quicktime']

/**
 * The registered name of the type that a client declares; undefined if it declares none, or a type for arbitrary bytes,
 * as curl does for types that it does not know.
 */
export const declaredType = (
  text: string | undefined,
): { value: string | undefined } | { refuse: RefusalOf<'declared_type_not_accepted'> } => {
  const declared = specificType(text)
  return declared === undefined || isAccepted(declared)
    ? { value: declared }
    : { refuse: { code: 'declared_type_not_accepted', declared } }
}

/**
 * Why a file cannot be accepted under its declared type; undefined if it can. Without a declared type, any accepted
 * type will do.
 */
export const contentRefusal = (
  { sizeBytes, mimeType, alsoIs, isCutOff }: InspectionResult,
  declared = mimeType,
): ContentRefusal | undefined => {
  if (sizeBytes === 0) return { code: 'file_empty' }
  if (mimeType === undefined || declared === undefined) return { code: 'file_type_not_accepted' }
  if (!isAccepted(mimeType)) return { code: 'file_type_not_accepted', mimeType }
  if (mimeType !== declared) return { code: 'file_type_mismatch', mimeType, declared }
  if (isCutOff) return { code: 'file_truncated', mimeType }
  return alsoIs === undefined ? undefined : { code: 'file_ambiguous', mimeType, alsoIs }
}

/**
 * Why a file cannot be accepted that was sent to the object store under a type: a front of the store would serve it as
 * that type. Undefined if it can, or if the client sent no type.
 */
export const sentTypeRefusal = (sent: string | undefined, declared: string): ContentRefusal | undefined => {
  const sentAs = specificType(sent)
  return sentAs === undefined || sentAs === declared ? undefined : { code: 'file_sent_as_other_type', sentAs, declared }
}

const isAccepted = (mimeType: string) => acceptedTypes.includes(mimeType)
