import type Router from '@koa/router'
import { mimeTypeOf } from '../../engine/media-types.ts'
import { CDN_PATH } from '../../engine/present.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { RequestState } from '../context.ts'

/** An object never changes under its key, so whoever has it may keep it. */
const CACHE = 'public, max-age=31536000, immutable'

/** Serves results from the object store. Their addresses cannot be guessed, and so need no key. */
export const cdnRoutes = (router: Router<RequestState>, objects: ObjectStore) => {
  router.get(`${CDN_PATH}:folder/:name`, async ctx => {
    const { folder, name } = ctx.params
    const object = await objects.get(`${folder}/${name}`)
    if (!object) return
    // Whatever the bytes are, a browser must neither guess at them nor run them.
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.set('Content-Security-Policy', "default-src 'none'; sandbox")
    ctx.set('Cache-Control', CACHE)
    ctx.type = mimeTypeOf(String(name))
    ctx.length = object.sizeBytes
    ctx.body = object.body
  })
}
