import { RunModelArguments } from '../../../schemas/api/mcp.ts'
import { Run } from '../../../schemas/api/run.ts'
import { followRun } from '../follow-run.ts'
import { unwrap } from '../refusals.ts'
import { runAnswer } from '../run-answer.ts'
import { runSummary } from '../summaries.ts'
import { tool } from '../tool.ts'

/** Most clients abandon a call after a minute. */
const WAIT_MS = 45_000

export const runModel = tool({
  name: 'run_model',
  title: 'Run a model',
  description: [
    'Runs a model and charges the account: the credits that quote_run returns are debited when the run is accepted,',
    'and refunded in full if it fails; what the tokens of a text model did not cost is released when it completes.',
    'input must match the parameters_schema that list_models returns for this model.',
    'A text model takes a prompt, or messages, and tools of yours, whose calls are then in output.tool_calls.',
    `Waits up to ${WAIT_MS / 1000} seconds for the result. A longer run continues, and get_run returns its result.`,
    'Progress notifications hold the text of a text model as it arrives.',
    'Use a new idempotency_key for each run. If a response is lost, repeat the call with the same key and arguments:',
    'the run is charged only once. list_runs shows the metadata and the label of each run.',
  ].join(' '),
  input: RunModelArguments,
  output: Run,
  summary: runSummary,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  answer: async ({ idempotency_key: idempotencyKey, ...request }, call) => {
    // Without progress notifications, the result of a run that starts at once comes from its events, not the views.
    const waitMs = call.notify ? 0 : WAIT_MS
    const streams = call.notify && ('wanted' as const)
    const options = { spender: 'run_model', idempotencyKey, waitMs, streams, disconnected: () => call.signal } as const
    const { row, replayed } = unwrap(await call.services.runs.createRun(call.caller, request, options))
    const latest = call.notify ? await followRun(row, call, call.notify, WAIT_MS) : row
    const replay = 'This is the earlier run with this idempotency_key. It was charged once.'
    const gone = latest.store === false ? ['Its result was not kept.'] : []
    return runAnswer(latest, call, ...(replayed ? [replay, ...gone] : []))
  },
})
