import { type Static, Type } from 'typebox'
import * as names from '../names.ts'
import { Closed, MAX_FILENAME_LENGTH, MAX_FOLDER_LENGTH, Sha256, Timestamp, UploadId, Url } from '../primitives.ts'
import { about } from './about.ts'
import { FileBytes } from './file.ts'
import { ListOf, PageCursor, PageLimit } from './list.ts'

const Filename = about(
  names.FileName(MAX_FILENAME_LENGTH),
  'The file name, in any script, without slashes, control characters and marks of the text direction.',
  'lake.jpg',
)

/** A label: files are not stored in folders. */
const FolderPath = about(
  names.FolderPath(MAX_FOLDER_LENGTH),
  'A folder path to store as a label, such as photos/2026. No part of it may be . or .. and an empty path is ignored.',
  'photos/2026',
)

/** The fields that accompany the file in a multipart upload. Some clients send no file name. */
export const UploadForm = Closed({ filename: Type.Optional(Filename), folder_path: Type.Optional(FolderPath) })
export type UploadForm = Static<typeof UploadForm>

/** The parts of a multipart upload. The headers of the file's part give its name and type. */
export const UploadMultipart = Closed({
  file: about(FileBytes, 'The file, with its name and type. A file without a name is named after its type.'),
  folder_path: Type.Optional(FolderPath),
})

export const PresignRequest = Closed({
  filename: Filename,
  mime_type: about(
    Type.String({ minLength: 1, maxLength: 100 }),
    'The type of the file: a PNG, JPEG, WebP, GIF or AVIF image, or an MP4, WebM or QuickTime video.',
    'image/jpeg',
  ),
  size_bytes: Type.Optional(
    about(
      Type.Integer({ minimum: 1 }),
      'The size of the file. With a size, the service refuses a file over the limit before you send it.',
      154_765,
    ),
  ),
  folder_path: Type.Optional(FolderPath),
})
export type PresignRequest = Static<typeof PresignRequest>

export const PresignedUpload = Closed({
  id: UploadId,
  presigned_url: about(Url, 'The URL to send the file to with `PUT`. Use it unchanged.'),
  cdn_url: about(Url, 'The URL of the file once you have sent it. Use it as `image_url` or `video_url`.'),
  method: Type.Literal('PUT'),
  expires_at: about(Timestamp, 'When `presigned_url` expires.'),
  will_delete_at: about(Timestamp, 'When the file will be deleted.'),
  max_size_bytes: about(Type.Integer(), 'The maximum size of the file.', 52_428_800),
})
export type PresignedUpload = Static<typeof PresignedUpload>

export const Upload = Closed({
  object: Type.Literal('upload'),
  id: UploadId,
  url: about(Url, 'The URL of the file. Use it as `image_url` or `video_url`.'),
  size_bytes: about(Type.Integer(), 'The size of the file.', 154_765),
  mime_type: about(Type.String(), 'The type of the file, detected from its content.', 'image/jpeg'),
  filename: about(Type.String(), 'The name of the file.', 'lake.jpg'),
  folder_path: Type.Optional(about(Type.String(), 'The folder path given with the upload.', 'photos/2026')),
  sha256: about(Sha256, 'The SHA-256 hash of the file, in hexadecimal.'),
  created_at: about(Timestamp, 'When the upload was requested.'),
  will_delete_at: about(Timestamp, 'When the file will be deleted.'),
})
export type Upload = Static<typeof Upload>

export const UploadsQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(UploadId)),
})

export const UploadList = ListOf(Upload, UploadId)
export type UploadList = Static<typeof UploadList>

export const DeletedUpload = Closed({ object: Type.Literal('upload'), id: UploadId, deleted: Type.Literal(true) })
export type DeletedUpload = Static<typeof DeletedUpload>
