import { Balance } from '../../../schemas/api/balance.ts'
import { NoArguments } from '../../../schemas/api/mcp.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const getBalance = tool({
  name: 'get_balance',
  title: 'Balance',
  description: 'The credits that are left to run models with. Costs nothing.',
  input: NoArguments,
  output: Balance,
  annotations: READ_ONLY,
  answer: async (_, { reads, present, asker: { accountId } }) => ({
    body: present.balance(await reads.getOwn(accountId, 'balance', accountId)),
  }),
})
