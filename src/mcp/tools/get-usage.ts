import { UsageList, UsageQuery } from '../../../schemas/api/usage.ts'
import { usageAskedBy } from '../../transports/usage-query.ts'
import { unwrap } from '../refusals.ts'
import { usageSummary } from '../summaries.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const getUsage = tool({
  name: 'get_usage',
  title: 'Get the usage',
  description: [
    'Returns the totals of runs, failures and credits of the account over UTC days, by default the last 30.',
    'group_by splits the totals by day, model, key or label, or by several of these, such as day,model.',
    'To get the next page, pass next_cursor as cursor with the same other arguments. Costs nothing.',
  ].join(' '),
  input: UsageQuery,
  output: UsageList,
  summary: usageSummary,
  annotations: READ_ONLY,
  answer: async (query, call) => {
    const { services, present, caller } = call
    return { body: present.usage(unwrap(await services.usage.list(caller, usageAskedBy(query, 'arguments'), call))) }
  },
})
