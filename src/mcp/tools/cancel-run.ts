import { RunArguments } from '../../../schemas/api/mcp.ts'
import { Run } from '../../../schemas/api/run.ts'
import { unwrap } from '../refusals.ts'
import { runAnswer } from '../run-answer.ts'
import { runSummary } from '../summaries.ts'
import { tool } from '../tool.ts'

export const cancelRun = tool({
  name: 'cancel_run',
  title: 'Cancel a run',
  description: [
    'Cancels a run. A run that stops in time fails with the code cancelled and is refunded in full.',
    'Otherwise it continues and stays charged. Fails with run_ended if the run has ended. Costs nothing.',
  ].join(' '),
  input: RunArguments,
  output: Run,
  summary: runSummary,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  answer: async ({ run_id }, call) => {
    const { services, caller, signal } = call
    return runAnswer(unwrap(await services.runs.cancelRun(caller, run_id, { disconnected: () => signal })), call)
  },
})
