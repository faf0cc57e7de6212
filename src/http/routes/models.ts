import { LRUCache } from 'lru-cache'
import { modelList } from '../../../schemas/api/examples.ts'
import { Deprecation, Sunset } from '../../../schemas/api/headers.ts'
import { ModelFamily, ModelList, ModelName, ModelsQuery } from '../../../schemas/api/model.ts'
import type { Offer } from '../../services/catalog/offers.ts'
import type { Presenter } from '../../services/presenter.ts'
import type { Services } from '../../services/services.ts'
import { unwrap } from '../../transports/refusals.ts'
import { StaticBody, staticHeaders, staticResponses } from '../answers/static-body.ts'
import type { Context } from '../context.ts'
import { operation, type Serve } from '../operation.ts'

const listModels = operation({
  id: 'listModels',
  method: 'get',
  path: '/v1/models',
  tag: 'Models',
  summary: 'List models with their parameters and prices',
  description: [
    'Returns model families with their endpoints. `parameters_schema` is the JSON Schema of `input`.',
    '`pricing` gives the price of a run: base × quantities × multipliers + surcharges.',
  ].join(' '),
  query: ModelsQuery,
  headers: staticHeaders,
  responses: staticResponses('The families that the account can use.', ModelList, {
    examples: { 'Model family': modelList },
  }),
})

const getModel = operation({
  id: 'getModel',
  method: 'get',
  path: '/v1/models/:id',
  tag: 'Models',
  summary: 'Get a model with its parameters and prices',
  description: 'Returns the family, as in the list of models.',
  params: { id: ModelName },
  headers: staticHeaders,
  responses: staticResponses('The family.', ModelFamily, {
    examples: { 'Model family': modelList.data[0] },
    headers: { Deprecation, Sunset },
  }),
  errors: ['model_not_found'],
})

export const modelOperations = [listModels, getModel]

export const modelRoutes = (serve: Serve, { catalog }: Services, present: Presenter) => {
  const show = ({ family, status }: Offer) => present.family(family, status)
  const bodies = new LRUCache<string, StaticBody>({ max: MAX_BODIES })

  const answer = (ctx: Context, offers: Offer[], toBody: () => object) => {
    const key = [ctx.path, ...offers.map(offer => present.versionOf(offer))].join()
    const body = bodies.get(key) ?? new StaticBody('application/json', JSON.stringify(toBody()))
    bodies.set(key, body)
    ctx.set('Cache-Control', 'private, no-cache')
    ctx.vary('Authorization, Cookie')
    return body.answer(ctx)
  }

  serve(listModels, async (ctx, { query }) => {
    const offers = unwrap(await catalog.list(ctx.state.caller, query))
    await answer(ctx, offers, () => ({ object: 'list', data: offers.map(show) }) satisfies ModelList)
  })

  serve(getModel, async (ctx, { params }) => {
    const offers = unwrap(await catalog.list(ctx.state.caller, { model: params.id }))
    const { retiresAt, deprecatedAt } = present.retirement((offers[0] as Offer).family, params.id) ?? {}
    if (deprecatedAt !== undefined) ctx.set('Deprecation', `@${Date.parse(deprecatedAt) / 1000}`)
    if (retiresAt !== undefined) ctx.set('Sunset', new Date(retiresAt).toUTCString())
    await answer(ctx, offers, () => show(offers[0] as Offer))
  })
}

/** Several times the families and types of output, for testers and all others. A full list takes about 100 KB. */
const MAX_BODIES = 200
