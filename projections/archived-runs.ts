import { accountOf } from '../schemas/events.ts'
import { projection } from './define.ts'
import { runKeys } from './runs.ts'

/** The runs that have left the lists. Refunds that follow are in the statement. */
export const archivedRuns = projection({
  view: 'archivedRuns',
  version: 1,
  key: runKeys,
  on: {
    // Two processes may archive a run at the same time.
    RunsArchived: (row, event, key) => {
      const run = event.data.runs.find(({ runId }) => key.endsWith(runId))
      return row ?? (run && { accountId: accountOf(event), ...run })
    },
    RunOutputDeleted: (row, { revision }) => row && { ...row, revisions: [...row.revisions, revision] },
  },
  indexes: { byId: ({ runId }) => runId },
})
