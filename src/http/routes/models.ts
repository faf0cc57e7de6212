import { modelList } from '../../../schemas/api/examples.ts'
import { ModelList } from '../../../schemas/api/model.ts'
import type { Catalog } from '../../services/catalog/catalog.ts'
import type { Presenter } from '../../services/runs/present.ts'
import { operation, type Serve } from '../operation.ts'

const listModels = operation({
  id: 'listModels',
  method: 'get',
  path: '/v1/models',
  tag: 'Models',
  summary: 'The models, their parameters and prices',
  description:
    'Every family with its endpoints. `parameters_schema` is the JSON Schema of `input`; `pricing` is the rule by which a run is charged: base × quantities × multipliers + surcharges.',
  answers: {
    200: {
      description: 'All families that the account may use.',
      shape: ModelList,
      examples: { 'A family': modelList },
    },
  },
})

export const modelOperations = [listModels]

export const modelRoutes = (serve: Serve, catalog: Catalog, present: Presenter) => {
  serve(listModels, async ctx => {
    const offers = await catalog.listFor(ctx.state.account.accountId)
    ctx.body = {
      object: 'list',
      data: offers.map(offer => present.family(offer.family, offer.status)),
    } satisfies ModelList
  })
}
