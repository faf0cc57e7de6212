import { modelList } from '../../../schemas/api/examples.ts'
import { ModelList } from '../../../schemas/api/model.ts'
import type { Presenter } from '../../services/presenter.ts'
import type { Services } from '../../services/services.ts'
import { operation, type Serve } from '../operation.ts'
import { unwrap } from '../refusals.ts'

const listModels = operation({
  id: 'listModels',
  method: 'get',
  path: '/v1/models',
  tag: 'Models',
  summary: 'List models with their parameters and prices',
  description: [
    'Returns every model family with its endpoints. `parameters_schema` is the JSON Schema of `input`.',
    '`pricing` gives the price of a run: base × quantities × multipliers + surcharges.',
  ].join(' '),
  responses: {
    200: {
      description: 'The families that the account can use.',
      shape: ModelList,
      examples: { 'Model family': modelList },
    },
  },
})

export const modelOperations = [listModels]

export const modelRoutes = (serve: Serve, { catalog }: Services, present: Presenter) => {
  serve(listModels, async ctx => {
    const offers = unwrap(await catalog.list(ctx.state.caller))
    ctx.body = {
      object: 'list',
      data: offers.map(offer => present.family(offer.family, offer.status)),
    } satisfies ModelList
  })
}
