import { type Static, Type } from 'typebox'
import { Closed, MAX_FILENAME_LENGTH, MAX_FOLDER_LENGTH, Sha256, Timestamp, UploadId } from '../primitives.ts'
import { ListOf, PageLimit } from './list.ts'

/** One name: nothing that leads elsewhere, and nothing that cannot be seen. */
const NAME = '(?!\\.{1,2}(/|$))[^/\\\\\\p{Cc}]+'

const Filename = Type.String({
  minLength: 1,
  maxLength: MAX_FILENAME_LENGTH,
  pattern: `^${NAME}$`,
  description: 'The name of the file, in any script; no slash and no control characters',
})

/** Only a hint: files do not lie in folders. */
const FolderPath = Type.String({
  minLength: 1,
  maxLength: MAX_FOLDER_LENGTH,
  pattern: `^/?${NAME}(/${NAME})*/?$`,
  description: 'A folder that the file is said to lie in, such as photos/2026; neither . nor ..',
})

/** What comes beside the file of a multipart upload. */
export const UploadForm = Closed({ filename: Filename, folder_path: Type.Optional(FolderPath) })
export type UploadForm = Static<typeof UploadForm>

export const PresignRequest = Closed({
  filename: Filename,
  mime_type: Type.String({ minLength: 1, maxLength: 100 }),
  size_bytes: Type.Optional(Type.Integer({ minimum: 1 })),
  folder_path: Type.Optional(FolderPath),
})
export type PresignRequest = Static<typeof PresignRequest>

export const PresignedUpload = Closed({
  id: UploadId,
  presigned_url: Type.String(),
  cdn_url: Type.String(),
  method: Type.Literal('PUT'),
  expires_at: Timestamp,
  will_delete_at: Timestamp,
  max_size_bytes: Type.Integer(),
})
export type PresignedUpload = Static<typeof PresignedUpload>

export const Upload = Closed({
  object: Type.Literal('upload'),
  id: UploadId,
  url: Type.String(),
  size_bytes: Type.Integer(),
  mime_type: Type.String(),
  filename: Type.String(),
  folder_path: Type.Optional(Type.String()),
  sha256: Sha256,
  created_at: Timestamp,
  will_delete_at: Timestamp,
})
export type Upload = Static<typeof Upload>

export const UploadsQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(UploadId),
})
export type UploadsQuery = Static<typeof UploadsQuery>

export const UploadList = ListOf(Upload, UploadId)
export type UploadList = Static<typeof UploadList>

export const DeletedUpload = Closed({ object: Type.Literal('upload'), id: UploadId, deleted: Type.Literal(true) })
export type DeletedUpload = Static<typeof DeletedUpload>
