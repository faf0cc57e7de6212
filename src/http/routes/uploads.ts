import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import {
  DeletedUpload,
  PresignedUpload,
  PresignRequest,
  Upload,
  UploadList,
  UploadMultipart,
  UploadsQuery,
} from '../../../schemas/api/upload.ts'
import { MAX_ARRIVING_UPLOADS, MAX_INLINE_MB, MAX_PRESIGNED_MB, UploadId } from '../../../schemas/primitives.ts'
import { limitOf, showPage } from '../../transports/list-page.ts'
import { unwrap } from '../../transports/refusals.ts'
import { receiveForm } from '../bodies/inline-upload.ts'
import { waitingClient } from '../connections/disconnect.ts'
import { unreadBody } from '../middleware/arriving-bodies.ts'
import { route } from '../route.ts'

const sendUpload = route({
  id: 'sendUpload',
  method: 'post',
  path: '/v1/uploads',
  tag: 'Uploads',
  summary: `Upload a file of up to ${MAX_INLINE_MB} MB`,
  description: [
    'Uploads an image for use as `image_url` or `end_image_url`, or a video for use as `video_url`.',
    "The type detected from the content must match the `Content-Type` of the file's part.",
    'For larger files, use `POST /v1/uploads/presigned`.',
    `At most ${MAX_ARRIVING_UPLOADS} files of an account may arrive at a time.`,
  ].join(' '),
  auth: 'key or session',
  content: { 'multipart/form-data': UploadMultipart },
  responses: {
    200: {
      description: 'The upload. The service keeps the file until `will_delete_at`.',
      shape: Upload,
      examples: { Image: examples.upload },
    },
  },
  errors: ['invalid_request', 'invalid_multipart', 'unsupported_media_type', 'payload_too_large'],
  before: () => [unreadBody],
  serve: async (ctx, { uploads, present }) => {
    ctx.body = present.upload(await receiveForm(ctx, uploads))
  },
})

const presignUpload = route({
  id: 'presignUpload',
  method: 'post',
  path: '/v1/uploads/presigned',
  tag: 'Uploads',
  summary: `Get a presigned URL for a file of up to ${MAX_PRESIGNED_MB} MB`,
  description: [
    'Send the file to `presigned_url` with `PUT` before `expires_at`.',
    'Set `Content-Type` to the `mime_type` of this request.',
  ].join(' '),
  auth: 'key or session',
  json: PresignRequest,
  examples: { Image: examples.requests.presign },
  responses: {
    200: {
      description: 'The presigned URL.',
      shape: PresignedUpload,
      examples: { 'Presigned URL': examples.presignedUpload },
    },
  },
  errors: ['unsupported_media_type'],
  serve: async (ctx, { uploads, present }, { json }) => {
    const { upload, presignedUrl } = unwrap(await uploads.presign(ctx.state.caller, json))
    ctx.body = present.presigned(upload, presignedUrl)
  },
})

const getUpload = route({
  id: 'getUpload',
  method: 'get',
  path: '/v1/uploads/:id',
  tag: 'Uploads',
  summary: 'Get an upload whose file has arrived',
  description: 'Returns the upload. The first request checks the file that was sent to a presigned URL.',
  auth: 'key or session',
  params: { id: UploadId },
  responses: { 200: { description: 'The upload.', shape: Upload, examples: { Image: examples.upload } } },
  errors: ['upload_not_found', 'unsupported_media_type', 'payload_too_large'],
  serve: async (ctx, { uploads, present }, { params: { id } }) => {
    ctx.body = present.upload(unwrap(await uploads.find(ctx.state.caller, id)))
  },
})

const deleteUpload = route({
  id: 'deleteUpload',
  method: 'delete',
  path: '/v1/uploads/:id',
  tag: 'Uploads',
  summary: 'Delete an upload',
  description: 'Deletes the file. Its URL no longer works, and runs can no longer use it.',
  auth: 'key or session',
  params: { id: UploadId },
  responses: {
    200: { description: 'The upload was deleted.', shape: DeletedUpload, examples: { Image: examples.deletedUpload } },
  },
  errors: ['upload_not_found'],
  serve: async (ctx, { uploads }, { params }) => {
    const id = unwrap(await uploads.delete(ctx.state.caller, params.id))
    ctx.body = { object: 'upload', id, deleted: true } satisfies DeletedUpload
  },
})

const listUploads = route({
  id: 'listUploads',
  method: 'get',
  path: '/v1/uploads',
  tag: 'Uploads',
  summary: 'List uploads whose files have arrived, newest first',
  description: [
    'Returns a page of the uploads of the account. To get the next page, pass `next_cursor` as `cursor`.',
    'A page may be short or empty even if `has_more` is true, because a request searches a limited number of uploads.',
  ].join(' '),
  auth: 'key or session',
  query: UploadsQuery,
  responses: {
    200: { description: 'A page of uploads.', shape: UploadList, examples: { 'Only page': examples.uploadList } },
  },
  serve: async (ctx, { uploads, present }, { query }) => {
    const page = unwrap(await uploads.list(ctx.state.caller, { ...query, limit: limitOf(query) }, waitingClient(ctx)))
    ctx.body = showPage(page, row => present.upload(row)) satisfies UploadList
  },
})

export const uploadRoutes = [sendUpload, presignUpload, getUpload, deleteUpload, listUploads]
