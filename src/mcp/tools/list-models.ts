import { ListModelsArguments, ModelsFound } from '../../../schemas/api/mcp.ts'
import type { ModelFamily } from '../../../schemas/api/model.ts'
import { goesBy } from '../../domain/catalog/choose-endpoint.ts'
import { ApiError } from '../../services/api-error.ts'
import type { Offer } from '../../services/catalog/catalog.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const listModels = tool({
  name: 'list_models',
  title: 'Models',
  description:
    'What can be run, and what it costs: credits_range holds the credits of the cheapest and the dearest input. Parameters and prices are left out of the list; call it again with model for those of one family before you run it. Costs nothing.',
  input: ListModelsArguments,
  output: ModelsFound,
  annotations: READ_ONLY,
  answer: async ({ model, ...filters }, { catalog, present, asker }) => {
    const offers = await catalog.listFor(asker.accountId)
    const named = offers.filter(({ family }) => model === undefined || goesBy(family, model))
    if (model !== undefined && named.length === 0)
      throw new ApiError('model_not_found', `There is no model ${JSON.stringify(model)}; without it, all are listed.`)
    const shown = named.filter(matching(filters)).map(({ family, status }) => present.family(family, status))
    return {
      body: { object: 'list' as const, data: model === undefined ? shown.map(shorten) : shown },
      notes: shown.length === 0 ? ['Nothing is so. Without query and filters, all models are listed.'] : [],
    }
  },
})

const matching =
  ({ output_type, kind, mode, query = '' }: Omit<ListModelsArguments, 'model'>) =>
  ({ family: { id, name, aliases, outputType, endpoints } }: Offer): boolean =>
    (output_type === undefined || outputType === output_type) &&
    endpoints.some(one => (kind === undefined || one.kind === kind) && (mode === undefined || one.mode === mode)) &&
    [id, name, ...aliases, ...endpoints.map(one => one.description)].some(text =>
      text.toLowerCase().includes(query.toLowerCase()),
    )

const shorten = ({ endpoints, ...family }: ModelFamily) => ({
  ...family,
  endpoints: endpoints.map(({ parameters_schema, pricing, ...endpoint }) => endpoint),
})
