import type { Readable } from 'node:stream'
import type Router from '@koa/router'
import { FileBytes, fileHeaders, filePlace, partHeaders, sentHeaders } from '../../../schemas/api/file.ts'
import { ContentRange, IfNoneMatch, IfRange, Range } from '../../../schemas/api/headers.ts'
import { mimeTypeOf } from '../../domain/media-types.ts'
import { Unavailable } from '../../ports/faults.ts'
import { type ByteRange, type ObjectFacts, type ObjectStore, PutRefused } from '../../ports/object-store.ts'
import { CDN_PATH } from '../../services/addresses.ts'
import { ApiError } from '../../services/api-error.ts'
import { byteRangeOf } from '../byte-range.ts'
import type { Context, RequestState } from '../context.ts'
import { cors } from '../middleware/cors.ts'
import { unreadBody } from '../middleware/unread-body.ts'
import { type Asked, operation, type Serve } from '../operation.ts'

/** An upload may be replaced for a while, and any file is deleted one day: a cache may keep it for an hour longer. */
const CACHE = 'public, max-age=3600'

const path = `${CDN_PATH}/:folder/:name`

const getFile = operation({
  id: 'getFile',
  method: 'get',
  path,
  tag: 'Files',
  summary: 'A result, or an upload',
  description: 'Whoever has the address may read the file. Ranges and conditional requests are possible.',
  open: true,
  params: filePlace,
  headers: { Range, 'If-Range': IfRange, 'If-None-Match': IfNoneMatch },
  answers: {
    200: { description: 'The file.', shape: FileBytes, type: '*/*', headers: fileHeaders },
    206: {
      description: 'The part that was asked for.',
      shape: FileBytes,
      type: '*/*',
      headers: partHeaders,
    },
    304: { description: 'It is still the one that the client has.', headers: fileHeaders },
    416: { description: 'The file has no such part.', headers: { 'Content-Range': ContentRange } },
  },
  errors: ['not_found'],
})

const putFile = operation({
  id: 'putFile',
  method: 'put',
  path,
  tag: 'Files',
  summary: 'Send a file to an address that you were given',
  description: 'Use the address as it is. Only where files are kept on disk; else it leads to the object store itself.',
  open: true,
  params: filePlace,
  content: { '*/*': FileBytes },
  answers: { 200: { description: 'The file is there.', headers: sentHeaders } },
  errors: ['invalid_request', 'unsupported_media_type', 'upload_not_found', 'payload_too_large'],
})

export const cdnOperations = [getFile, putFile]

/** Serves files from the object store, and takes those that the store gave addresses for. Neither needs a key. */
export const cdnRoutes = (router: Router<RequestState>, serve: Serve, objects: ObjectStore) => {
  router.options(path, cors)
  serve(getFile, cors, (ctx, { params }) => serveFile(ctx, objects, keyOf(params)))

  if (!objects.acceptPut) return
  const acceptPut = objects.acceptPut.bind(objects)
  const takeFile = async (ctx: Context, { params }: Asked<typeof putFile>) => {
    if (ctx.get('Content-Range'))
      throw new ApiError('invalid_request', 'A file is sent as a whole: Content-Range is not possible here.')
    const key = keyOf(params)
    const query = new URLSearchParams(ctx.querystring)
    const mimeType = ctx.get('Content-Type') || undefined
    await acceptPut({ key, query, mimeType, sizeBytes: ctx.request.length, body: ctx.req }).catch(error => {
      throw error instanceof PutRefused ? toApiError(error) : error
    })
    const facts = await objects.stat(key)
    if (facts) ctx.set('ETag', facts.etag)
    ctx.body = null
    ctx.status = 200
  }
  serve(putFile, cors, unreadBody, takeFile)
}

const keyOf = ({ folder, name }: Asked<typeof getFile>['params']) => `${folder}/${name}`

const serveFile = async (ctx: Context, objects: ObjectStore, key: string): Promise<void> => {
  const facts = await objects.stat(key)
  if (!facts) return
  const range = byteRangeOf(ctx, facts)
  ctx.status = 200
  ctx.set('ETag', facts.etag)
  ctx.set('Accept-Ranges', 'bytes')
  ctx.set('Cache-Control', CACHE)
  // Whatever the bytes are, a browser must neither guess at them nor run them, but may show them on any page.
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Content-Security-Policy', "default-src 'none'; sandbox")
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  ctx.type = mimeTypeOf(key)
  if (range === 'unsatisfiable') {
    ctx.body = null
    ctx.status = 416
    ctx.set('Content-Range', `bytes */${facts.sizeBytes}`)
    ctx.set('Cache-Control', 'no-store')
    return
  }
  if (ctx.method === 'GET') ctx.body = await read(objects, key, facts, range)
  if (range) {
    ctx.status = 206
    ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${facts.sizeBytes}`)
  }
  ctx.length = range ? range.end - range.start + 1 : facts.sizeBytes
}

const read = async (objects: ObjectStore, key: string, { etag }: ObjectFacts, range?: ByteRange): Promise<Readable> => {
  const object = await objects.get(key, range)
  if (object?.etag === etag) return object.body
  object?.body.destroy()
  throw new Unavailable(`${key} was replaced or deleted just now`)
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
