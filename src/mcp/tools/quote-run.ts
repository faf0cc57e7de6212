import { RunModelArguments } from '../../../schemas/api/mcp.ts'
import { Quote } from '../../../schemas/api/run.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const quoteRun = tool({
  name: 'quote_run',
  title: 'Price of a run',
  description:
    'What run_model would charge for the same arguments, and how the price comes about. Refuses what run_model would refuse, but for a balance that is too low. Nothing is run, and it costs nothing.',
  input: RunModelArguments,
  output: Quote,
  annotations: READ_ONLY,
  answer: async ({ idempotency_key, ...request }, { quotes, present, asker }) => {
    const { receipt } = await quotes.quote(asker, request)
    return { body: present.quote(receipt) }
  },
})
