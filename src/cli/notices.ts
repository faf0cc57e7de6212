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
    .description('shows what an account is told of, and changes what the options name')
    .option('--email <on|off|address>', 'mail to the first address of the account, or to another one of it')
    .option('--url <url>', 'webhooks to a URL; "none" ends them')
    .option('--balance-under <credits>', 'tell of a balance that falls under this; 0 for never')
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

/** The settings after the change. Throws OperatorError for an option that means nothing. */
const changeOf = ({ email, url, balanceUnder }: Options): ((before: NoticesInfo) => NoticesInfo) => {
  const isAddress = email?.includes('@') ?? false
  if (email !== undefined && email !== 'on' && email !== 'off' && !isAddress)
    throw new OperatorError('--email is on, off, or an address of the account.')
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
