import { RunArguments } from '../../../schemas/api/mcp.ts'
import { Run } from '../../../schemas/api/run.ts'
import { runAnswer } from '../run-answer.ts'
import { tool } from '../tool.ts'

export const cancelRun = tool({
  name: 'cancel_run',
  title: 'Give a run up',
  description:
    'Asks for a run to be given up. Where it could be stopped it has failed as cancelled, and all its credits are given back; else it goes on and stays charged. Refused with run_ended when it has ended. Costs nothing.',
  input: RunArguments,
  output: Run,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  answer: async ({ run_id }, call) =>
    runAnswer(await call.runs.cancel(call.asker, run_id, { gone: () => call.signal }), call),
})
