import type Router from '@koa/router'
import type { Next } from 'koa'
import { FileBytes, fileHeaders, filePlace, partHeaders, sentHeaders } from '../../../schemas/api/file.ts'
import { ContentRange, IfNoneMatch, IfRange, Range } from '../../../schemas/api/headers.ts'
import { MAX_ARRIVING_PUTS } from '../../../schemas/primitives.ts'
import { mimeTypeOf } from '../../domain/media-types.ts'
import { CDN_PATH } from '../../services/files/addresses.ts'
import type { Services } from '../../services/services.ts'
import { ApiError } from '../../transports/api-error.ts'
import { unwrap } from '../../transports/refusals.ts'
import { byteRangeOf } from '../answers/byte-range.ts'
import { anonymousCaller, type Context, type RequestState } from '../context.ts'
import { unreadBody } from '../middleware/arriving-bodies.ts'
import { route } from '../route.ts'

/** Caches may be an hour late: a client can replace an upload for a while, and every file is deleted one day. */
const CACHE = 'public, max-age=3600'

const path = `${CDN_PATH}/:folder/:name`

const getFile = route({
  id: 'getFile',
  method: 'get',
  path,
  tag: 'Files',
  summary: 'Get a result or an upload',
  description: [
    'Anyone with the URL can read the file. Supports range and conditional requests.',
    'Until the service has inspected an upload, browsers download the file as `application/octet-stream`.',
  ].join(' '),
  auth: 'none',
  params: filePlace,
  headers: { Range, 'If-Range': IfRange, 'If-None-Match': IfNoneMatch },
  responses: {
    200: { description: 'The file.', shape: FileBytes, type: '*/*', headers: fileHeaders },
    206: {
      description: 'The requested part of the file.',
      shape: FileBytes,
      type: '*/*',
      headers: partHeaders,
    },
    304: { description: 'The client holds the current version.', headers: fileHeaders },
    416: { description: 'The requested range is outside the file.', headers: { 'Content-Range': ContentRange } },
  },
  errors: ['not_found'],
  before: () => [anyOrigin],
  serve: (ctx, { files }, { params }) => serveFile(ctx, files, keyOf(params)),
})

/** Only for services whose presigned URLs lead to this service instead of a separate object store. */
export const putFile = route({
  id: 'putFile',
  method: 'put',
  path,
  tag: 'Files',
  summary: 'Upload a file to a presigned URL',
  description: [
    'Use the URL unchanged. If the service stores files in S3, presigned URLs lead there instead.',
    `At most ${MAX_ARRIVING_PUTS} files may arrive at a URL at a time.`,
  ].join(' '),
  auth: 'none',
  params: filePlace,
  content: { '*/*': FileBytes },
  responses: { 200: { description: 'The file was stored.', headers: sentHeaders } },
  errors: [
    ...(['invalid_request', 'unsupported_media_type', 'account_suspended', 'upload_not_found'] as const),
    ...(['payload_too_large', 'rate_limited'] as const),
  ],
  before: () => [anyOrigin, unreadBody],
  serve: async (ctx, { files }, { params }) => {
    if (ctx.get('Content-Range'))
      throw new ApiError('invalid_request', 'Content-Range is not supported: send the whole file.')
    const put = {
      key: keyOf(params),
      query: new URLSearchParams(ctx.querystring),
      mimeType: ctx.get('Content-Type') || undefined,
      sizeBytes: ctx.request.length,
      body: ctx.req,
    }
    const facts = unwrap(await files.receive(anonymousCaller(ctx), put))
    if (facts) ctx.set('ETag', facts.etag)
    ctx.body = null
    ctx.status = 200
  },
})

export const cdnRoutes = [getFile, putFile]

/** Answers the preflight requests of browsers. */
export const answerPreflights = (router: Router<RequestState>) => router.options(path, anyOrigin)

const keyOf = ({ folder, name }: Record<keyof typeof filePlace, string>) => `${folder}/${name}`

const serveFile = async (ctx: Context, files: Services['files'], key: string): Promise<void> => {
  const caller = anonymousCaller(ctx)
  const facts = unwrap(await files.stat(caller, key))
  if (!facts) throw new ApiError('not_found', 'The file does not exist or was deleted.')
  const range = byteRangeOf(ctx, facts)
  ctx.status = 200
  ctx.set('ETag', facts.etag)
  ctx.set('Accept-Ranges', 'bytes')
  ctx.set('Cache-Control', facts.isInspected ? CACHE : 'no-store')
  // The bytes are untrusted: browsers must not sniff or run them, but any page may show them.
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Content-Security-Policy', "default-src 'none'; sandbox")
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  if (!facts.isInspected) ctx.set('Content-Disposition', 'attachment')
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  ctx.type = facts.isInspected ? mimeTypeOf(key) : 'application/octet-stream'
  if (range === 'unsatisfiable') {
    ctx.body = null
    ctx.status = 416
    ctx.set('Content-Range', `bytes */${facts.sizeBytes}`)
    ctx.set('Cache-Control', 'no-store')
    return
  }
  if (ctx.method === 'GET') ctx.body = unwrap(await files.read(caller, key, facts, range))
  if (range) {
    ctx.status = 206
    ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${facts.sizeBytes}`)
  }
  ctx.length = range ? range.end - range.start + 1 : facts.sizeBytes
}

/**
 * Lets pages of any site read files and send them to presigned URLs
 * (https://fetch.spec.whatwg.org/#http-cors-protocol). Neither needs a cookie or key, so a page can do only what anyone
 * with the URL can.
 */
const anyOrigin = async (ctx: Context, next: Next) => {
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Access-Control-Expose-Headers', 'ETag, Content-Range, Accept-Ranges, X-Request-Id')
  if (ctx.method !== 'OPTIONS') return next()
  ctx.set('Access-Control-Allow-Methods', 'GET, HEAD, PUT')
  ctx.set('Access-Control-Allow-Headers', 'Content-Type, Range, If-Range')
  ctx.set('Access-Control-Max-Age', '86400')
  ctx.status = 204
}
