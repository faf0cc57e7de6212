import type Router from '@koa/router'
import type { ModelList } from '../../../schemas/api/model.ts'
import type { Catalog } from '../../engine/catalog.ts'
import type { Presenter } from '../../engine/present.ts'
import type { Reads } from '../../engine/reads.ts'
import type { Middleware, RequestState } from '../context.ts'

export const modelRoutes = (
  router: Router<RequestState>,
  keyed: Middleware,
  catalog: Catalog,
  reads: Reads,
  present: Presenter,
) => {
  router.get('/v1/models', keyed, async ctx => {
    const account = await reads.get('accounts', ctx.state.account.accountId)
    const offers = await catalog.list(account?.tester ?? false)
    ctx.body = {
      object: 'list',
      data: offers.map(offer => present.family(offer.family, offer.status)),
    } satisfies ModelList
  })
}
