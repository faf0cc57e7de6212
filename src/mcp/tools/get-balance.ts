import { Balance } from '../../../schemas/api/balance.ts'
import { NoArguments } from '../../../schemas/api/mcp.ts'
import { unwrap } from '../refusals.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const getBalance = tool({
  name: 'get_balance',
  title: 'Get the balance',
  description: 'Returns the credits available to run models. Costs nothing.',
  input: NoArguments,
  output: Balance,
  summary: ({ credits_balance }) => `The balance is ${credits_balance} credits.`,
  annotations: READ_ONLY,
  answer: async (_, { services, present, caller }) => ({
    body: present.balance(unwrap(await services.accounts.balance(caller))),
  }),
})
