import { Command, Option } from 'commander'
import { GRANT_KINDS } from '../../schemas/account-events.ts'
import { fromMicros } from '../domain/money.ts'
import { checkReason, checkReference, parseCredits } from './arguments.ts'
import { operatorOf } from './operator.ts'
import { moneyText, parsePayment } from './payment.ts'
import { printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const creditsCommand = (): Command => {
  const command = new Command('credits').description('grant credits and withdraw mistaken grants')
  addMove(command, 'grant', 'add credits to an account', 'courtesy')
    .option('--paid <money>', "amount paid for a purchase, such as '25.00 EUR'")
    .option('--invoice <text>', 'invoice of a purchase (default: the reference)')
  addMove(command, 'withdraw', 'withdraw granted credits; the balance never falls below zero', 'correction')
  return command
}

const addMove = (parent: Command, name: 'grant' | 'withdraw', description: string, kind: string) =>
  parent
    .command(`${name} <account> <credits>`)
    .description(description)
    .requiredOption('--reason <text>', 'reason, recorded in the log; at most 200 characters')
    .addOption(new Option('--kind <kind>', 'kind of grant, recorded in the log').choices(GRANT_KINDS).default(kind))
    .option('--reference <text>', 'unique reference, such as an invoice number; repeating a reference moves no credits')
    .option('--json', 'print JSON')
    .action(async (account, text, options, command) => {
      const caller = operatorOf(command)
      const amountMicros = parseCredits(text, { least: 1 })
      const { kind, reference, reason } = options
      checkReason(reason)
      if (reference !== undefined) checkReference(reference)
      // A withdrawal names the kind of the grants that it takes back, and pays nothing.
      const payment = name === 'grant' ? parsePayment(options) : undefined
      await withCore(async ({ services: { accounts } }) => {
        const moved = unwrap(await accounts[name](caller, account, { amountMicros, kind, reference, reason, payment }))
        if (!moved.isNew && !options.json) console.log(REPEATED)
        printOne(
          {
            account_id: account,
            [name === 'grant' ? 'credits_granted' : 'credits_withdrawn']: fromMicros(amountMicros),
            reference: moved.reference,
            ...(payment && { paid: moneyText(payment), invoice: payment.invoice }),
            ...(options.json && { repeated: !moved.isNew }),
            credits_balance: fromMicros(moved.balanceMicros),
          },
          options,
        )
      })
    })

const REPEATED = 'Already recorded under this reference. Nothing changed: the first kind, reason and payment apply.'
