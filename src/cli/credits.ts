import { Command } from 'commander'
import { fromMicros } from '../domain/money.ts'
import { OperatorError } from '../services/operator-error.ts'
import { parseCredits } from './amounts.ts'
import { findAccount } from './find-account.ts'
import { cause, printOne, withCore } from './run.ts'
import { checkReason } from './texts.ts'

export const creditsCommand = (): Command => {
  const command = new Command('credits').description('grant credits')

  command
    .command('grant <account> <credits>')
    .description('adds credits to an account')
    .requiredOption('--reason <text>', 'why, for the statement; at most 200 characters')
    .option('--json', 'print JSON')
    .action(async (name, text, options) => {
      const amountMicros = parseCredits(text, { least: 1 })
      const { reason } = options
      checkReason(reason)
      const granted = await withCore(async core => {
        const { accountId } = await findAccount(core, name)
        const outcome = await core.accounts.execute(accountId, { type: 'GrantCredits', amountMicros, reason }, cause)
        if ('refuse' in outcome) throw OperatorError.of(outcome.refuse)
        const { balanceMicros } = await core.accounts.state(accountId)
        return {
          account_id: accountId,
          credits_granted: fromMicros(amountMicros),
          credits_balance: fromMicros(balanceMicros),
        }
      })
      printOne(granted, options)
    })

  return command
}
