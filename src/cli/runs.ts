import { Command } from 'commander'
import { fromMicros } from '../domain/money.ts'
import { checkReason, parseCredits } from './arguments.ts'
import { operatorOf } from './operator.ts'
import { printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const runsCommand = (): Command => {
  const command = new Command('runs')

  command
    .command('refund <run>')
    .description('refund a completed run, in full or in part; refunds never exceed the charge')
    .requiredOption('--reason <text>', 'reason, recorded in the log; at most 200 characters')
    .option('--credits <number>', 'credits to refund (default: the rest of the charge)')
    .option('--json', 'print JSON')
    .action(async (run, options, command) => {
      const caller = operatorOf(command)
      const { credits, reason } = options
      checkReason(reason)
      const amountMicros = credits === undefined ? undefined : parseCredits(credits, { least: 1 })
      await withCore(async ({ services }) => {
        const refunded = unwrap(await services.refunds.refund(caller, run, { amountMicros, reason }))
        printOne(
          {
            account_id: refunded.accountId,
            run_id: refunded.runId,
            credits_refunded: fromMicros(refunded.amountMicros),
            credits_balance: fromMicros(refunded.balanceMicros),
          },
          options,
        )
      })
    })

  return command
}
