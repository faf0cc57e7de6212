import * as examples from '../../../schemas/api/examples.ts'
import {
  DeletedUpload,
  PresignedUpload,
  PresignRequest,
  Upload,
  UploadList,
  UploadMultipart,
  UploadsQuery,
} from '../../../schemas/api/upload.ts'
import { MAX_INLINE_MB, MAX_PRESIGNED_MB, UploadId } from '../../../schemas/primitives.ts'
import type { Presenter } from '../../services/runs/present.ts'
import type { Uploads } from '../../services/uploads/uploads.ts'
import { askerOf } from '../context.ts'
import { receiveUpload } from '../inline-upload.ts'
import { unreadBody } from '../middleware/unread-body.ts'
import { operation, type Serve } from '../operation.ts'
import { limitOf, showPage } from '../page.ts'

const sendUpload = operation({
  id: 'sendUpload',
  method: 'post',
  path: '/v1/uploads',
  tag: 'Uploads',
  summary: `Send a file of up to ${MAX_INLINE_MB} MB`,
  description:
    'A picture or a film, to be used as `image_url`. What the file is, is found out from its content, and must agree with what the part says. Larger files go to an address from `POST /v1/uploads/presigned`.',
  content: { 'multipart/form-data': UploadMultipart },
  answers: {
    200: {
      description: 'The file is kept, until `will_delete_at`.',
      shape: Upload,
      examples: { 'A picture': examples.upload },
    },
  },
  errors: ['invalid_request', 'invalid_multipart', 'unsupported_media_type', 'payload_too_large', 'rate_limited'],
})

const presignUpload = operation({
  id: 'presignUpload',
  method: 'post',
  path: '/v1/uploads/presigned',
  tag: 'Uploads',
  summary: `Get an address to which a file of up to ${MAX_PRESIGNED_MB} MB can be sent`,
  description:
    'Send the file with `PUT` to `presigned_url`, with the `Content-Type` that you gave here as `mime_type`, before `expires_at`.',
  json: PresignRequest,
  examples: { 'A picture': examples.presignRequest },
  answers: {
    200: { description: 'The address.', shape: PresignedUpload, examples: { 'A grant': examples.presigned } },
  },
  errors: ['unsupported_media_type', 'rate_limited'],
})

const getUpload = operation({
  id: 'getUpload',
  method: 'get',
  path: '/v1/uploads/:id',
  tag: 'Uploads',
  summary: 'One upload whose file has come',
  params: { id: UploadId },
  answers: { 200: { description: 'The upload.', shape: Upload, examples: { 'A picture': examples.upload } } },
  errors: ['upload_not_found', 'unsupported_media_type', 'payload_too_large'],
})

const deleteUpload = operation({
  id: 'deleteUpload',
  method: 'delete',
  path: '/v1/uploads/:id',
  tag: 'Uploads',
  summary: 'Delete an upload before its time',
  params: { id: UploadId },
  answers: {
    200: { description: 'It is deleted.', shape: DeletedUpload, examples: { 'A picture': examples.deletedUpload } },
  },
  errors: ['upload_not_found'],
})

const listUploads = operation({
  id: 'listUploads',
  method: 'get',
  path: '/v1/uploads',
  tag: 'Uploads',
  summary: 'The uploads whose files have come, the newest first',
  query: UploadsQuery,
  answers: {
    200: { description: 'A page of them.', shape: UploadList, examples: { 'The only page': examples.uploadList } },
  },
})

export const uploadOperations = [sendUpload, presignUpload, getUpload, deleteUpload, listUploads]

export const uploadRoutes = (serve: Serve, uploads: Uploads, present: Presenter) => {
  serve(sendUpload, unreadBody, async ctx => {
    ctx.body = present.upload(await receiveUpload(ctx, uploads))
  })

  serve(presignUpload, async (ctx, { json }) => {
    const { upload, presignedUrl } = await uploads.presign(askerOf(ctx), json)
    ctx.body = present.presigned(upload, presignedUrl)
  })

  serve(getUpload, async (ctx, { params: { id } }) => {
    ctx.body = present.upload(await uploads.find(askerOf(ctx), id))
  })

  serve(deleteUpload, async (ctx, { params }) => {
    const id = await uploads.delete(askerOf(ctx), params.id)
    ctx.body = { object: 'upload', id, deleted: true } satisfies DeletedUpload
  })

  serve(listUploads, async (ctx, { query }) => {
    const page = await uploads.list(ctx.state.account.accountId, { ...query, limit: limitOf(query) })
    ctx.body = showPage(page, row => present.upload(row)) satisfies UploadList
  })
}
