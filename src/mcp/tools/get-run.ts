import { RunArguments } from '../../../schemas/api/mcp.ts'
import { Run } from '../../../schemas/api/run.ts'
import { unwrap } from '../refusals.ts'
import { runAnswer } from '../run-answer.ts'
import { runSummary } from '../summaries.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const getRun = tool({
  name: 'get_run',
  title: 'Get a run',
  description: 'Returns the status of a run, and its result once it has ended. Costs nothing.',
  input: RunArguments,
  output: Run,
  summary: runSummary,
  annotations: READ_ONLY,
  answer: async ({ run_id }, call) => runAnswer(unwrap(await call.services.runs.findRun(call.caller, run_id)), call),
})
