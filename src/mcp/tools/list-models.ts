import { ListModelsArguments, ModelsFound } from '../../../schemas/api/mcp.ts'
import type { ModelFamily } from '../../../schemas/api/model.ts'
import { unwrap } from '../refusals.ts'
import { modelsSummary } from '../summaries.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const listModels = tool({
  name: 'list_models',
  title: 'List models',
  description: [
    'Lists models. First call this tool with brief: true to choose a model. Then call it with model to get the',
    'parameters and the price of that family in full. Without arguments, the result has all families in full: over',
    '100 KB.',
    'credits_range holds the lowest and the highest price of a run in credits. Costs nothing.',
  ].join(' '),
  input: ListModelsArguments,
  output: ModelsFound,
  summary: modelsSummary,
  annotations: READ_ONLY,
  answer: async ({ brief, ...filters }, { services, present, caller }) => {
    const offers = unwrap(await services.catalog.list(caller, filters))
    const shown = offers.map(({ family, status }) => present.family(family, status))
    return {
      body: { object: 'list' as const, data: brief ? shown.map(shorten) : shown },
      notes: shown.length === 0 ? ['No model matches. Omit query and filters to list all models.'] : [],
    }
  },
})

const shorten = ({ endpoints, ...family }: ModelFamily) => ({
  ...family,
  endpoints: endpoints.map(({ parameters_schema, pricing, ...endpoint }) => endpoint),
})
