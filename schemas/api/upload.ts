import { type Static, Type } from 'typebox'
import { Closed, MAX_FILENAME_LENGTH, MAX_FOLDER_LENGTH, Sha256, Timestamp, UploadId } from '../primitives.ts'
import { about } from './about.ts'
import { ListOf, PageCursor, PageLimit } from './list.ts'

/** One name: nothing that leads elsewhere, and nothing that cannot be seen. */
const NAME = '(?!\\.{1,2}(/|$))[^/\\\\\\u0000-\\u001f\\u007f-\\u009f]+'

const Filename = about(
  Type.String({ minLength: 1, maxLength: MAX_FILENAME_LENGTH, pattern: `^${NAME}$` }),
  'The name of the file, in any script; no slash and no control characters',
  'lake.jpg',
)

/** Only a hint: files do not lie in folders. */
const FolderPath = about(
  Type.String({ minLength: 1, maxLength: MAX_FOLDER_LENGTH, pattern: `^/?${NAME}(/${NAME})*/?$` }),
  'A folder that the file is said to lie in, such as photos/2026; neither . nor ..',
  'photos/2026',
)

/** What comes beside the file of a multipart upload. */
export const UploadForm = Closed({ filename: Filename, folder_path: Type.Optional(FolderPath) })
export type UploadForm = Static<typeof UploadForm>

/** The parts of a multipart upload. The file's part says what it is called and of what type it is. */
export const UploadMultipart = Closed({
  file: Type.Unsafe<Blob>({
    type: 'string',
    contentMediaType: 'application/octet-stream',
    description: 'The file, with its name and its type.',
  }),
  folder_path: Type.Optional(FolderPath),
})

export const PresignRequest = Closed({
  filename: Filename,
  mime_type: about(
    Type.String({ minLength: 1, maxLength: 100 }),
    'What the file is: a PNG, JPEG, WebP, GIF or AVIF image, or an MP4, WebM or QuickTime video.',
    'image/jpeg',
  ),
  size_bytes: Type.Optional(
    about(Type.Integer({ minimum: 1 }), 'How large the file is, so that one too large is refused at once.', 154_765),
  ),
  folder_path: Type.Optional(FolderPath),
})
export type PresignRequest = Static<typeof PresignRequest>

export const PresignedUpload = Closed({
  id: UploadId,
  presigned_url: about(Type.String(), 'Where to send the file with PUT. Use it as it is.'),
  cdn_url: about(Type.String(), 'Where the file can be read afterwards, and what to give as `image_url`.'),
  method: Type.Literal('PUT'),
  expires_at: about(Timestamp, 'Until when a file can be sent.'),
  will_delete_at: about(Timestamp, 'When the file is deleted.'),
  max_size_bytes: about(Type.Integer(), 'How large it may be.', 52_428_800),
})
export type PresignedUpload = Static<typeof PresignedUpload>

export const Upload = Closed({
  object: Type.Literal('upload'),
  id: UploadId,
  url: about(Type.String(), 'Where the file can be read, and what to give as `image_url`.'),
  size_bytes: about(Type.Integer(), 'How large it is.', 154_765),
  mime_type: about(Type.String(), 'What it is, by its content.', 'image/jpeg'),
  filename: about(Type.String(), 'What it is called.', 'lake.jpg'),
  folder_path: Type.Optional(about(Type.String(), 'Where it is said to lie.', 'photos/2026')),
  sha256: about(Sha256, 'The SHA-256 of its bytes, in hexadecimal.'),
  created_at: about(Timestamp, 'When the upload was asked for.'),
  will_delete_at: about(Timestamp, 'When it is deleted.'),
})
export type Upload = Static<typeof Upload>

export const UploadsQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(UploadId)),
})
export type UploadsQuery = Static<typeof UploadsQuery>

export const UploadList = ListOf(Upload, UploadId)
export type UploadList = Static<typeof UploadList>

export const DeletedUpload = Closed({ object: Type.Literal('upload'), id: UploadId, deleted: Type.Literal(true) })
export type DeletedUpload = Static<typeof DeletedUpload>
