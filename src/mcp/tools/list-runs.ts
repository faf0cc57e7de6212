import { ListRunsArguments } from '../../../schemas/api/mcp.ts'
import { RunList } from '../../../schemas/api/run.ts'
import { DEFAULT_PAGE } from '../../../schemas/primitives.ts'
import { showPage } from '../../http/page.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const listRuns = tool({
  name: 'list_runs',
  title: 'Runs',
  description:
    'The runs of the account, the newest first, with their results. next_cursor of a page is the cursor of the following one. Costs nothing.',
  input: ListRunsArguments,
  output: RunList,
  annotations: READ_ONLY,
  answer: async ({ limit = DEFAULT_PAGE, ...wanted }, { runReads, present, asker }) => {
    const page = await runReads.list(asker.accountId, { ...wanted, limit })
    return { body: showPage(page, row => present.run(row)) }
  },
})
