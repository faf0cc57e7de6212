import { QuoteRunArguments } from '../../../schemas/api/mcp.ts'
import { Quote } from '../../../schemas/api/run.ts'
import { unwrap } from '../refusals.ts'
import { quoteSummary } from '../summaries.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const quoteRun = tool({
  name: 'quote_run',
  title: 'Get the price of a run',
  description: [
    'Returns the price that run_model would charge for the same arguments, and its calculation.',
    'Refuses the same arguments as run_model, but checks neither the balance nor limits.',
    'Runs nothing and costs nothing.',
  ].join(' '),
  input: QuoteRunArguments,
  output: Quote,
  summary: quoteSummary,
  annotations: READ_ONLY,
  answer: async ({ idempotency_key, ...request }, { services, present, caller }) => {
    return { body: present.quote(unwrap(await services.runs.quoteRun(caller, request))) }
  },
})
