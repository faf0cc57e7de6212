import { RunList, RunsFilter } from '../../../schemas/api/run.ts'
import { showPage } from '../../transports/list-page.ts'
import { runsQueryOf } from '../../transports/runs-query.ts'
import { unwrap } from '../refusals.ts'
import { runsSummary } from '../summaries.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const listRuns = tool({
  name: 'list_runs',
  title: 'List runs',
  description: [
    'Lists the runs of the account with their results, newest first.',
    'To get the next page, pass next_cursor as cursor with the same other arguments, until has_more is false.',
    'With a filter, earlier pages may be short or empty. Costs nothing.',
  ].join(' '),
  input: RunsFilter,
  output: RunList,
  summary: runsSummary,
  annotations: READ_ONLY,
  answer: async (query, call) => {
    const { services, present, caller } = call
    const page = unwrap(await services.runs.listRuns(caller, runsQueryOf(query, 'arguments'), call))
    return { body: showPage(page, row => present.run(row)) }
  },
})
