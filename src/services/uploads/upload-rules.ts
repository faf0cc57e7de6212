import type { FileKind } from '../../domain/catalog/file-parameters.ts'
import { specificType } from '../../domain/media-types.ts'
import type { ContentRefusal, RefusalOf } from '../../domain/refusal.ts'
import type { InspectionResult } from './inspection.ts'

/** The accepted types of files. */
export const acceptedTypes: readonly string[] = [
  ...['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'],
  ...['video/mp4', 'video/webm', 'video/quicktime'],
]

/** The accepted types of images or of videos. */
export const acceptedOf = (kind: FileKind): string[] => acceptedTypes.filter(isOf(kind))

const isOf = (kind: FileKind) => (mimeType: string) => mimeType.startsWith(`${kind}/`)

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

/** Why a file cannot be an input of this kind; undefined if it can. The label only counts for bytes of unknown type. */
export const inputRefusal = (
  inspected: InspectionResult,
  kind: FileKind,
  label: string,
): ContentRefusal | RefusalOf<'file_of_other_kind'> | undefined => {
  const { mimeType } = inspected
  if (mimeType && isAccepted(mimeType) && !isOf(kind)(mimeType)) return { code: 'file_of_other_kind', kind, mimeType }
  const refusal = contentRefusal(inspected)
  if (refusal?.code !== 'file_type_not_accepted' || mimeType !== undefined) return refusal
  const stated = specificType(label)
  const isOther = stated && /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(stated) && !acceptedOf(kind).includes(stated)
  return isOther ? { ...refusal, mimeType: stated } : refusal
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
