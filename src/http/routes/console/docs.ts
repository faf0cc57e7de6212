import type Router from '@koa/router'
import type { ApiDocument, Operation } from '../../../console/docs/api-document.ts'
import { operationsOf } from '../../../console/docs/api-document.ts'
import { FirstRequestPage } from '../../../console/docs/first-request-page.tsx'
import { GuideIndexPage, GuidePage } from '../../../console/docs/guide-pages.tsx'
import { DOCS, FIRST_REQUEST, REFERENCE } from '../../../console/docs/paths.ts'
import {
  OperationPage,
  type Reference,
  ReferenceIndexPage,
  SchemaPage,
} from '../../../console/docs/reference-pages.tsx'
import { accessOf } from '../../../console/docs/scopes.ts'
import { keyItem } from '../../../services/accounts/key-item.ts'
import type { SessionOwner } from '../../../services/caller.ts'
import { firstModel, firstRun } from '../../../services/catalog/example-request.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { redirect, showPage } from '../../answers/page-answers.ts'
import type { Context, RequestState } from '../../context.ts'
import { type Guides, openGuides } from '../../docs/guides.ts'
import { describeApi } from '../../openapi/document.ts'
import { templateOf } from '../../operation.ts'
import { routes } from '../../routes.ts'
import type { PageDependencies } from './dependencies.ts'
import { modelsThatRun, publicFamilies } from './models-that-run.ts'

/** The guides, which anyone may read, and the reference, which needs what the OpenAPI document needs. */
export const docsPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, publicUrl, isPublic, forAnyone } = dependencies
  const referenceNow = openReference(dependencies)
  let guides: Promise<Guides> | undefined
  const openOnce = () => {
    guides ??= openGuides(publicUrl)
    return guides
  }

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
      show(ctx, await referenceNow())
    })

  router.get(
    DOCS,
    forAnyone(async ctx => showPage(ctx, GuideIndexPage({ shelves: (await openOnce()).shelves }))),
  )
  // The address of the first page before the guides were pages.
  router.get('/guide', ctx => redirect(ctx, FIRST_REQUEST))

  router.get(
    FIRST_REQUEST,
    forAnyone(async (ctx, owner) => {
      const { shelves } = await openOnce()
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
      const { shelves, guideAt, besides, fileAt } = await openOnce()
      const file = await fileAt(ctx.path)
      if (file) return file.answer(ctx)
      const guide = await guideAt(ctx.path)
      if (!guide) throw new ApiError('not_found', 'There is no such page.')
      showPage(ctx, GuidePage({ shelves, guide, ...besides(ctx.path) }))
    }),
  )
}

/** Describes the API again whenever the catalog, its supply or the base URL has changed. */
const openReference = ({ services, present, brand, publicUrl, isPublic }: PageDependencies) => {
  const opened = routes.map(of => (isPublic && of.auth === 'key unless public' ? { ...of, auth: 'none' as const } : of))
  const access = new Map(
    opened.map(of => [of.id, accessOf({ method: of.method.toUpperCase(), path: templateOf(of), auth: of.auth })]),
  )
  let last: { key: string; reference: Reference } | undefined

  const describe = (baseUrl: string, families: Parameters<typeof describeApi>[1]['families']): Reference => {
    const document = describeApi(opened, { title: brand.name, baseUrl, families }) as unknown as ApiDocument
    return {
      document,
      operations: operationsOf(document),
      accessOf: ({ id }: Operation) => access.get(id) ?? { needs: 'nothing', scopes: [] },
      baseUrl,
      parts: new Map(),
    }
  }

  return async (): Promise<Reference> => {
    const offers = unwrap(await services.descriptors.families({ kind: 'anonymous' }))
    const baseUrl = publicUrl()
    const key = [baseUrl, ...offers.map(offer => present.versionOf(offer))].join()
    if (last?.key !== key)
      last = {
        key,
        reference: describe(
          baseUrl,
          offers.map(({ family, status }) => present.family(family, status)),
        ),
      }
    return last.reference
  }
}
