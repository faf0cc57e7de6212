import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { UsageList, UsageQuery } from '../../../schemas/api/usage.ts'
import { unwrap } from '../../transports/refusals.ts'
import { usageAskedBy } from '../../transports/usage-query.ts'
import { waitingClient } from '../connections/disconnect.ts'
import { route } from '../route.ts'

const listUsage = route({
  id: 'listUsage',
  method: 'get',
  path: '/v1/usage',
  tag: 'Account',
  summary: 'Add up runs and credits',
  description: [
    'Counts runs, failures and credits by day, model, key or label, or several of them, of a period of UTC days.',
    'A run and its charge count on the day of the debit, a failure and its refund on the day of the refund,',
    'so the credits of any period are those that `GET /v1/ledger` lists for it.',
    'Pass `next_cursor` as `cursor`, with the same other parameters, to get the next page.',
  ].join(' '),
  auth: 'key or session',
  query: UsageQuery,
  responses: {
    200: {
      description: 'A page of sums. They reflect all requests answered earlier.',
      shape: UsageList,
      examples: { 'By day and model': examples.usageList },
    },
  },
  serve: async (ctx, { usage, present }, { query }) => {
    const page = await usage.list(ctx.state.caller, usageAskedBy(query), waitingClient(ctx))
    ctx.body = present.usage(unwrap(page)) satisfies UsageList
  },
})

export const usageRoutes = [listUsage]
