import type Router from '@koa/router'
import { FirstRequestPage } from '../../../console/docs/first-request-page.tsx'
import { GuideIndexPage, GuidePage } from '../../../console/docs/guide-pages.tsx'
import { DOCS, DOCS_SEARCH, FIRST_REQUEST, REFERENCE } from '../../../console/docs/paths.ts'
import {
  OperationPage,
  type Reference,
  ReferenceIndexPage,
  SchemaPage,
} from '../../../console/docs/reference-pages.tsx'
import { DocsSearchPage } from '../../../console/docs/search-page.tsx'
import { keyItem } from '../../../services/accounts/key-item.ts'
import type { SessionOwner } from '../../../services/caller.ts'
import { firstModel, firstRun } from '../../../services/catalog/example-request.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { redirect, showPage } from '../../answers/page-answers.ts'
import type { Context, RequestState } from '../../context.ts'
import type { PageDependencies } from './dependencies.ts'
import { distinct, matching } from './matching.ts'
import { modelsThatRun, publicFamilies } from './models-that-run.ts'

/** More than a title has. */
const MAX_QUERY = 100

/** Who finds more types more. */
const MAX_FOUND = 40

/** The guides, which anyone may read, and the reference, which needs what the OpenAPI document needs. */
export const docsPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, publicUrl, isPublic, forAnyone, docs } = dependencies
  const firstKeyOf = async (owner: SessionOwner | undefined) => {
    const keys = owner ? unwrap(await services.keys.list(owner, owner.accountId)) : []
    return keys
      .filter(({ revokedAt }) => revokedAt === undefined)
      .map(keyItem)
      .findLast(({ scope }) => scope === 'full')
  }

  /** Shows a page of the reference to people who may read the OpenAPI document. */
  const forReaders = (show: (ctx: Context, reference: Reference) => void) =>
    forAnyone(async (ctx, owner) => {
      if (!owner && !isPublic) return redirect(ctx, '/console/sign-in')
      show(ctx, await docs.reference())
    })

  router.get(
    DOCS,
    forAnyone(async ctx => showPage(ctx, GuideIndexPage({ shelves: (await docs.guides()).shelves }))),
  )
  // The address of the first page before the guides were pages.
  router.get('/guide', ctx => redirect(ctx, FIRST_REQUEST))

  router.get(
    FIRST_REQUEST,
    forAnyone(async (ctx, owner) => {
      const { shelves } = await docs.guides()
      const families = isPublic || owner ? await publicFamilies(dependencies) : undefined
      const run = firstRun(firstModel(await modelsThatRun(dependencies)))
      const apiKey = await firstKeyOf(owner)
      const [next] = shelves.flatMap(shelf => shelf.guides)
      showPage(
        ctx,
        FirstRequestPage({ shelves, next, url: publicUrl(), isSignedIn: owner !== undefined, apiKey, families, run }),
      )
    }),
  )

  router.get(
    DOCS_SEARCH,
    forAnyone(async (ctx, owner) => {
      const query = (typeof ctx.query['q'] === 'string' ? ctx.query['q'] : '').trim().slice(0, MAX_QUERY)
      const titles = await docs.titles({ isReader: isPublic || owner !== undefined, isOperator: true })
      const titled = query === '' ? [] : matching(titles, query).map(({ result }) => result)
      const sections = (await docs.sections()).find(query, { limit: MAX_FOUND, hasFolded: true })
      const { shelves } = await docs.guides()
      showPage(ctx, DocsSearchPage({ shelves, query, results: distinct([...titled, ...sections]).slice(0, MAX_FOUND) }))
    }),
  )

  router.get(
    REFERENCE,
    forReaders((ctx, reference) => showPage(ctx, ReferenceIndexPage({ reference }))),
  )

  router.get(
    `${REFERENCE}/:operation`,
    forReaders((ctx, reference) => {
      const operation = reference.operations.find(({ id }) => id === ctx['params'].operation)
      if (!operation) throw new ApiError('not_found', 'The API has no such request.')
      showPage(ctx, OperationPage({ reference, operation }))
    }),
  )

  router.get(
    `${REFERENCE}/schemas/:name`,
    forReaders((ctx, reference) => {
      const name = ctx['params'].name as string
      if (!Object.hasOwn(reference.document.components.schemas, name))
        throw new ApiError('not_found', 'The API has no such schema.')
      showPage(ctx, SchemaPage({ reference, name }))
    }),
  )

  router.get(
    `${DOCS}/{*path}`,
    forAnyone(async ctx => {
      const { shelves, guideAt, besides, fileAt } = await docs.guides()
      const file = await fileAt(ctx.path)
      if (file) return file.answer(ctx)
      const guide = await guideAt(ctx.path)
      if (!guide) throw new ApiError('not_found', 'There is no such page.')
      showPage(ctx, GuidePage({ shelves, guide, ...besides(ctx.path) }))
    }),
  )
}
