import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { Deprecation, Sunset } from '../../../schemas/api/headers.ts'
import { ModelFamily, ModelList, ModelName, ModelsQuery } from '../../../schemas/api/model.ts'
import type { Offer } from '../../services/catalog/offers.ts'
import { unwrap } from '../../transports/refusals.ts'
import { staticHeaders, staticResponses } from '../answers/static-body.ts'
import type { Context } from '../context.ts'
import type { RouteDependencies } from '../dependencies.ts'
import { route } from '../route.ts'

const listModels = route({
  id: 'listModels',
  method: 'get',
  path: '/v1/models',
  tag: 'Models',
  summary: 'List models with their parameters and prices',
  description: [
    'Returns model families with their endpoints. `parameters_schema` is the JSON Schema of `input`.',
    '`pricing` gives the price of a run: base × quantities × multipliers + tokens + surcharges.',
  ].join(' '),
  auth: 'key or session',
  query: ModelsQuery,
  headers: staticHeaders,
  responses: staticResponses('The families that the account can use.', ModelList, {
    examples: { 'Model family': examples.modelList },
  }),
  serve: async (ctx, dependencies, { query }) => {
    const offers = unwrap(await dependencies.catalog.list(ctx.state.caller, query))
    await answer(ctx, dependencies, offers, families => ({ object: 'list', data: families }) satisfies ModelList)
  },
})

const getModel = route({
  id: 'getModel',
  method: 'get',
  path: '/v1/models/:id',
  tag: 'Models',
  summary: 'Get a model with its parameters and prices',
  description: 'Returns the family in the same form as the list of models.',
  auth: 'key or session',
  params: { id: ModelName },
  headers: staticHeaders,
  responses: staticResponses('The family.', ModelFamily, {
    examples: { 'Model family': examples.modelList.data[0] },
    headers: { Deprecation, Sunset },
  }),
  errors: ['model_not_found'],
  serve: async (ctx, dependencies, { params }) => {
    const offers = unwrap(await dependencies.catalog.list(ctx.state.caller, { model: params.id }))
    const { retiresAt, deprecatedAt } = dependencies.present.retirement((offers[0] as Offer).family, params.id) ?? {}
    if (deprecatedAt !== undefined) ctx.set('Deprecation', `@${Date.parse(deprecatedAt) / 1000}`)
    if (retiresAt !== undefined) ctx.set('Sunset', new Date(retiresAt).toUTCString())
    await answer(ctx, dependencies, offers, ([family]) => family as ModelFamily)
  },
})

export const modelRoutes = [listModels, getModel]

const answer = (
  ctx: Context,
  { present, bodies }: RouteDependencies,
  offers: Offer[],
  toBody: (families: ModelFamily[]) => object,
) => {
  ctx.set('Cache-Control', 'private, no-cache')
  ctx.vary('Authorization, Cookie')
  return bodies
    .get([ctx.path, ...offers.map(offer => present.versionOf(offer))].join(), () =>
      toBody(offers.map(({ family, status }) => present.family(family, status))),
    )
    .answer(ctx)
}
