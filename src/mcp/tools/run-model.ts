import { RunModelArguments } from '../../../schemas/api/mcp.ts'
import { Run } from '../../../schemas/api/run.ts'
import { followRun } from '../follow-run.ts'
import { runAnswer } from '../run-answer.ts'
import { tool } from '../tool.ts'

/** Less than the minute after which most clients give a call up. */
const WAIT_MS = 45_000

export const runModel = tool({
  name: 'run_model',
  title: 'Run a model',
  description: `Runs a model, and charges the account: credits are debited when the run is accepted, as many as quote_run says, and all given back when it fails. input is what the parameters_schema of list_models with this model asks for. Waits up to ${WAIT_MS / 1000} seconds for the result; a run that takes longer goes on, and get_run shows how it ends. Give each run that you want an idempotency_key of its own: repeated with the same key and arguments, a call whose answer was lost is not charged twice. metadata stays with the run, so that list_runs can show what it was for.`,
  input: RunModelArguments,
  output: Run,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  answer: async ({ idempotency_key: idempotencyKey, ...request }, call) => {
    // Who is not told how it goes need not wait for the views: a run that begins at once is answered from its own events.
    const waitMs = call.tell ? 0 : WAIT_MS
    const options = { idempotencyKey, waitMs, gone: () => call.signal }
    const { row, replayed } = await call.runs.run(call.asker, request, options)
    const latest = call.tell ? await followRun(row, call, call.tell, WAIT_MS) : row
    const replay = 'This is the run that was begun under the idempotency_key before; it was charged once.'
    return runAnswer(latest, call, ...(replayed ? [replay] : []))
  },
})
