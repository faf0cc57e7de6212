import type Router from '@koa/router'
import { CDN_PATH, isUploadKey } from '../../engine/addresses.ts'
import { ApiError } from '../../engine/api-error.ts'
import { mimeTypeOf } from '../../engine/media-types.ts'
import { type ObjectStore, PutRefused } from '../../ports/object-store.ts'
import { byteRangeOf } from '../byte-range.ts'
import type { Context, RequestState } from '../context.ts'
import { crossOrigin } from '../middleware/cross-origin.ts'
import { unreadBody } from '../middleware/unread-body.ts'

/** Results never change. An upload may be replaced for a while, and is deleted when its owner wishes. */
const RESULT_CACHE = 'public, max-age=86400, immutable'
const UPLOAD_CACHE = 'public, max-age=3600'

/** Serves files from the object store, and takes those that the store gave addresses for. Neither needs a key. */
export const cdnRoutes = (router: Router<RequestState>, objects: ObjectStore) => {
  const path = `${CDN_PATH}/:folder/:name`

  router.options(path, crossOrigin)
  router.get(path, crossOrigin, ctx => serve(ctx, objects, keyOf(ctx)))

  if (!objects.acceptPut) return
  const acceptPut = objects.acceptPut.bind(objects)
  router.put(path, crossOrigin, unreadBody, async ctx => {
    const key = keyOf(ctx)
    const query = new URLSearchParams(ctx.querystring)
    const mimeType = ctx.get('Content-Type') || undefined
    await acceptPut({ key, query, mimeType, sizeBytes: ctx.request.length, body: ctx.req }).catch(error => {
      throw error instanceof PutRefused ? toApiError(error) : error
    })
    const facts = await objects.stat(key)
    if (facts) ctx.set('ETag', facts.etag)
    ctx.body = null
    ctx.status = 200
  })
}

const keyOf = ({ params }: { params: Record<string, string> }) => `${params['folder']}/${params['name']}`

const serve = async (ctx: Context, objects: ObjectStore, key: string): Promise<void> => {
  const facts = await objects.stat(key)
  if (!facts) return
  ctx.status = 200
  ctx.set('ETag', facts.etag)
  const range = byteRangeOf(ctx, facts)
  const isWanted = ctx.method === 'GET' && !ctx.fresh && range !== 'unsatisfiable'
  const object = isWanted ? await objects.get(key, range) : undefined
  if (isWanted && object?.etag !== facts.etag) {
    object?.body.destroy()
    throw new ApiError('unavailable', 'The file was replaced or deleted just now. Please ask for it again.')
  }
  // Whatever the bytes are, a browser must neither guess at them nor run them, but may show them on any page.
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Content-Security-Policy', "default-src 'none'; sandbox")
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  ctx.set('Accept-Ranges', 'bytes')
  ctx.set('Cache-Control', isUploadKey(key) ? UPLOAD_CACHE : RESULT_CACHE)
  ctx.type = mimeTypeOf(key)
  if (ctx.fresh) {
    ctx.status = 304
  } else if (range === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${facts.sizeBytes}`)
    ctx.set('Cache-Control', 'no-store')
    ctx.body = null
    ctx.status = 416
  } else {
    const { start, end } = range ?? { start: 0, end: facts.sizeBytes - 1 }
    if (range) {
      ctx.status = 206
      ctx.set('Content-Range', `bytes ${start}-${end}/${facts.sizeBytes}`)
    }
    ctx.length = end - start + 1
    if (object) ctx.body = object.body
  }
}

const toApiError = ({ reason, message }: PutRefused): ApiError => {
  switch (reason) {
    case 'forbidden':
    case 'expired':
      return new ApiError(
        'upload_not_found',
        `${message} Ask for a new address with POST /v1/uploads/presigned, and use it as it is.`,
      )
    case 'too_large':
      return new ApiError('payload_too_large', message)
    case 'other_type':
      return new ApiError('unsupported_media_type', message)
    case 'broken_off':
      return new ApiError('invalid_request', message)
  }
}
