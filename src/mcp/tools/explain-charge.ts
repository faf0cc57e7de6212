import { Charge } from '../../../schemas/api/charge.ts'
import { RunArguments } from '../../../schemas/api/mcp.ts'
import { unwrap } from '../refusals.ts'
import { showCharge } from '../show-charge.ts'
import { chargeSummary } from '../summaries.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const explainCharge = tool({
  name: 'explain_charge',
  title: 'Explain a charge',
  description: [
    'Explains the cost of a run: the price step by step, the debit with the balance after it, the refunds with their',
    'reasons, and the states of the run with their times. Costs nothing.',
  ].join(' '),
  input: RunArguments,
  output: Charge,
  summary: chargeSummary,
  annotations: READ_ONLY,
  answer: async ({ run_id }, { services, present, caller }) => ({
    body: showCharge(unwrap(await services.charges.explain(caller, run_id)), present),
  }),
})
