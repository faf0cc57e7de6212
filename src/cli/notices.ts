import type { Command } from 'commander'
import { fromMicros } from '../domain/money.ts'
import type { NoticesInfo } from '../services/notices/notices.ts'
import { parseCredits } from './arguments.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const addNotices = (parent: Command) =>
  parent
    .command('notices <account>')
    .description('show or change which notices an account gets, and where')
    .option(
      '--email <on|off|address>',
      'mail notices: "on" for the first address of the account, "off", or another of its addresses',
    )
    .option('--url <url>', 'send notices as webhooks to this URL; "none" to stop')
    .option('--balance-under <credits>', 'notify when the balance falls below this many credits; 0 for never')
    .option('--json', 'print JSON')
    .action(async (account, { json, ...options }, command) => {
      const caller = operatorOf(command)
      const change = changeOf(options)
      const settings = await withCore(async ({ services: { notices } }) => {
        const before = unwrap(await notices.settings(caller, account))
        const isAsked = Object.keys(options).length > 0
        return unwrap(
          await (isAsked ? notices.set(caller, account, change(before)) : notices.settings(caller, account)),
        )
      })
      printOne({ account_id: account, ...show(settings) }, { json })
    })

interface Options {
  email?: string
  url?: string
  balanceUnder?: string
}

/** The settings after the change. Throws OperatorError for an invalid option. */
const changeOf = ({ email, url, balanceUnder }: Options): ((before: NoticesInfo) => NoticesInfo) => {
  const isAddress = email?.includes('@') ?? false
  if (email !== undefined && email !== 'on' && email !== 'off' && !isAddress)
    throw new OperatorError('--email must be on, off or an address of the account.')
  const balanceUnderMicros = balanceUnder === undefined ? undefined : parseCredits(balanceUnder, { least: 0 })
  return ({ url: urlBefore, ...before }) => {
    const urlAfter = url === 'none' ? undefined : (url ?? urlBefore)
    return {
      ...before,
      ...(email !== undefined && { email: email !== 'off' }),
      ...(isAddress && { address: email as string }),
      ...(urlAfter !== undefined && { url: urlAfter }),
      ...(balanceUnderMicros !== undefined && { balanceUnderMicros }),
    }
  }
}

const show = ({ email, address, url, balanceUnderMicros }: NoticesInfo) => ({
  email,
  email_address: address ?? null,
  url: url ?? null,
  balance_under_credits: fromMicros(balanceUnderMicros),
})
