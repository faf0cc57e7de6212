import type { FileKind } from '../../domain/catalog/inputs.ts'
import { specificType } from '../../domain/media-types.ts'
import type { ContentRefusal, RefusalOf } from '../../domain/refusal.ts'
import type { InspectionResult } from './inspection.ts'

export const acceptedTypes: readonly string[] = [
  ...['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'],
  ...['video/mp4', 'video/webm', 'video/quicktime'],
]

/** The accepted types of images or of videos. */
export const acceptedOf = (kind: FileKind): string[] => acceptedTypes.filter(isOf(kind))

const isOf = (kind: FileKind) => (mimeType: string) => mimeType.startsWith(`${kind}/`)

/**
 * The registered name of the declared type; undefined if a client declares no type, or the type for arbitrary bytes, as
 * curl does for unknown types.
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
 * The reason to refuse a file under its declared type; undefined if it is accepted. Without a declared type, any
 * accepted type is allowed.
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
 * The reason to refuse a file as an input of this kind; undefined if it is accepted. The label counts only for bytes of
 * unknown type.
 */
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
 * The reason to refuse a file that was sent to the object store under another type, since a front of the store would
 * serve it as that type. Undefined if the types match, or if the client sent none.
 */
export const sentTypeRefusal = (sent: string | undefined, declared: string): ContentRefusal | undefined => {
  const sentAs = specificType(sent)
  return sentAs === undefined || sentAs === declared ? undefined : { code: 'file_sent_as_other_type', sentAs, declared }
}

const isAccepted = (mimeType: string) => acceptedTypes.includes(mimeType)
