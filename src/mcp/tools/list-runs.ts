import { RunList, RunsFilter } from '../../../schemas/api/run.ts'
import { limitOf, showPage } from '../../transports/list-page.ts'
import { unwrap } from '../refusals.ts'
import { runsSummary } from '../summaries.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const listRuns = tool({
  name: 'list_runs',
  title: 'List runs',
  description: [
    'Lists the runs of the account with their results, newest first.',
    'Pass next_cursor of a page as cursor to get the next page, until has_more is false: with a filter,',
    'a page may be short or empty before that. Costs nothing.',
  ].join(' '),
  input: RunsFilter,
  output: RunList,
  summary: runsSummary,
  annotations: READ_ONLY,
  answer: async (query, call) => {
    const { services, present, caller } = call
    const page = unwrap(await services.runs.listRuns(caller, { ...query, limit: limitOf(query) }, call))
    return { body: showPage(page, row => present.run(row)) }
  },
})
