import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type Router from '@koa/router'
import { FrontPage } from '../../../console/front/front-page.tsx'
import { PICTURE_PATH, sampleOf } from '../../../console/front/pictures.ts'
import { wordsOf } from '../../../console/front/words.ts'
import { curlRun, firstModel, firstRun, KEY_VARIABLE } from '../../../services/catalog/example-request.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { showPage } from '../../answers/page-answers.ts'
import { StaticBody } from '../../answers/static-body.ts'
import { anonymousCaller, type Context, type RequestState } from '../../context.ts'
import type { PageDependencies } from './dependencies.ts'
import { publicFamilies } from './models-that-run.ts'

/** The pages for people who have no account yet, and their files. */
export const frontPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, sessions, registration, brand, publicUrl } = dependencies
  const words = brand.text === undefined ? undefined : wordsOf(brand.text)

  router.get('/', async ctx => {
    const isSignedIn = await sessions.isSignedIn(ctx)
    const families = await publicFamilies(dependencies)
    const request = curlRun(`${publicUrl()}/v1/run`, `$${KEY_VARIABLE}`, firstRun(firstModel([])))
    showPage(ctx, FrontPage({ isSignedIn, registration, families, request, words }))
  })

  router.get(PICTURE_PATH, ctx => answer(ctx, picture()))

  router.get(sampleOf(':family'), async ctx => {
    const sample = unwrap(await services.samples.pictureOf(anonymousCaller(ctx), ctx.params['family'] ?? ''))
    if (!sample) throw new ApiError('not_found', 'There is no such sample.')
    ctx.set('Cache-Control', 'public, max-age=86400')
    ctx.type = 'image/jpeg'
    ctx.body = Buffer.from(sample)
  })
}

const { resolve } = createRequire(import.meta.url)

/** A file that is read at the first request. */
const file = (type: string, path: string) => {
  let body: Promise<StaticBody> | undefined
  return () => {
    body ??= readFile(resolve(path)).then(bytes => new StaticBody(type, bytes))
    return body
  }
}

const picture = file('image/jpeg', '#first-picture')

const answer = async (ctx: Context, body: Promise<StaticBody>) => {
  const ready = await body
  // A new version of the service may have other files.
  ctx.set('Cache-Control', 'max-age=86400')
  return ready.answer(ctx)
}
