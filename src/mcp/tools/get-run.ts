import { RunArguments } from '../../../schemas/api/mcp.ts'
import { Run } from '../../../schemas/api/run.ts'
import { runAnswer } from '../run-answer.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const getRun = tool({
  name: 'get_run',
  title: 'A run',
  description: 'How far a run is, and its result once it has ended. Costs nothing.',
  input: RunArguments,
  output: Run,
  annotations: READ_ONLY,
  answer: async ({ run_id }, call) => runAnswer(await call.runReads.find(call.asker.accountId, run_id), call),
})
