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
    'Returns the totals of runs, failures and credits over a period of UTC days, by day, model, key or label, or by',
    'several of these. A run and its charge count on the day of the debit, a failure and its refund on the day of the',
    'refund, and a release on its own day, so the credits of a period match the lines of `GET /v1/ledger`.',
    'To get the next page, pass `next_cursor` as `cursor` with the same other parameters.',
  ].join(' '),
  auth: 'key or session',
  query: UsageQuery,
  responses: {
    200: {
      description: 'A page of totals. They include all requests that the service answered earlier.',
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
