import type Router from '@koa/router'
import { type DeletedUpload, PresignRequest, type UploadList, UploadsQuery } from '../../../schemas/api/upload.ts'
import { listNewest } from '../../engine/list-newest.ts'
import type { Presenter } from '../../engine/present.ts'
import type { Reads } from '../../engine/reads.ts'
import type { Uploads } from '../../engine/uploads.ts'
import { askerOf, type Middleware, type RequestState } from '../context.ts'
import { receiveUpload } from '../inline-upload.ts'
import { jsonBody } from '../middleware/json-body.ts'
import { unreadBody } from '../middleware/unread-body.ts'
import { limitOf, showPage } from '../page.ts'
import { uploadIdOf } from '../upload-id.ts'
import { readerOf } from '../validate.ts'

const presignRequest = readerOf(PresignRequest, 'body')
const uploadsQuery = readerOf(UploadsQuery, 'query')

export const uploadRoutes = (
  router: Router<RequestState>,
  keyed: Middleware,
  uploads: Uploads,
  reads: Reads,
  present: Presenter,
) => {
  router.post('/v1/uploads', unreadBody, keyed, async ctx => {
    ctx.body = present.upload(await receiveUpload(ctx, uploads))
  })

  router.post('/v1/uploads/presigned', keyed, jsonBody, async ctx => {
    const { upload, presignedUrl } = await uploads.presign(askerOf(ctx), presignRequest(ctx.request.body))
    ctx.body = present.presigned(upload, presignedUrl)
  })

  router.get('/v1/uploads/:id', keyed, async ctx => {
    ctx.body = present.upload(await uploads.find(askerOf(ctx), uploadIdOf(ctx)))
  })

  router.delete('/v1/uploads/:id', keyed, async ctx => {
    const id = uploadIdOf(ctx)
    await uploads.delete(askerOf(ctx), id)
    ctx.body = { object: 'upload', id, deleted: true } satisfies DeletedUpload
  })

  router.get('/v1/uploads', keyed, async ctx => {
    const query = uploadsQuery(ctx.query)
    const page = await listNewest(reads, 'uploads', ctx.state.account.accountId, {
      limit: limitOf(query),
      cursor: query.cursor,
      matches: row => row.status === 'stored',
    })
    ctx.body = showPage(page, row => present.upload(row)) satisfies UploadList
  })
}
