import { Argument, Command } from 'commander'
import type { AccountLimits } from '../../schemas/account-events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import { type Config, publicUrlOf } from '../boot/config.ts'
import { DEFAULT_NOTICES } from '../domain/account/notices.ts'
import { fromMicros } from '../domain/money.ts'
import type { AccountSummary } from '../services/accounts/accounts.ts'
import type { Found } from '../services/operator/lookups.ts'
import { invitationMessage } from '../services/sign-in/code-messages.ts'
import { checkReason, parseAccountLimits, parseCredits, parseKeyName } from './arguments.ts'
import { listErasures } from './backup/erasures.ts'
import { addNotices } from './notices.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

const NONE_FOUND =
  'Nothing has this e-mail address or ID. "tollgate accounts list" shows all accounts, with their whole addresses.'

export const accountsCommand = (): Command => {
  const command = new Command('accounts')

  command
    .command('open')
    .description('open an account and create its first API key, which is shown only once')
    .requiredOption('--email <email>', 'e-mail address of the owner; each address can have one account')
    .option('--credits <number>', 'credits to grant (default: WELCOME_CREDITS)')
    .option('--key <name>', 'name of the key', 'first')
    .option('--tester', 'allow the account to see and run test models', false)
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const key = { name: parseKeyName(options.key) }
      // A shell passes an unset variable as an empty text, which is not a number.
      const given = options.credits === undefined ? undefined : parseCredits(options.credits, { least: 0 })
      await withCore(async ({ config, services }) => {
        const welcomeMicros = given ?? config.welcomeMicros
        const { email, tester } = options
        const opened = unwrap(
          await services.accounts.open(caller, { email, tester, welcomeMicros, notices: DEFAULT_NOTICES, key }),
        )
        const { accountId, isNew, apiKey = null } = opened
        if (!isNew) console.error(`${email} already has an account; "tollgate keys create ${accountId}" adds a key.`)
        printOne({ account_id: accountId, opened: isNew, api_key: apiKey }, options)
      })
    })

  command
    .command('list')
    .description('list all accounts, oldest first')
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const found = await withCore(async ({ services }) => unwrap(await services.accounts.list(caller)))
      printMany(found.map(show), options, 'There are no accounts yet.')
    })

  command
    .command('show <account>')
    .description('show an account and its credit totals')
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      const found = await withCore(async ({ services }) => unwrap(await services.accounts.find(caller, account)))
      printOne(show(found), options)
    })

  command
    .command('find <id>')
    .description(
      'show the account of an e-mail address, or of any ID: of an account, run, key, upload, purchase, request or ' +
        'job of a provider; a key itself is found too',
    )
    .option('--json', 'print JSON')
    .action(async (id, options, command) => {
      const caller = operatorOf(command)
      const found = await withCore(async ({ services }) => {
        const ids = unwrap(await services.lookups.any(caller, id)).map(accountOf)
        // Requests of several clients may have one ID.
        return Promise.all([...new Set(ids)].map(async each => unwrap(await services.accounts.find(caller, each))))
      })
      const [first] = found
      if (!first) throw new OperatorError(NONE_FOUND)
      if (found.length === 1) printOne(show(first), options)
      else printMany(found.map(show), options, '')
    })

  command
    .command('invite <email>')
    .description('invite an e-mail address to open an account (REGISTRATION=invite), and mail the invitation')
    .option('--json', 'print JSON')
    .action(async (email, options, command) => {
      const caller = operatorOf(command)
      await withCore(async ({ config, services }) => {
        const { isNew, address } = unwrap(await services.accounts.invite(caller, email))
        if (!isNew) console.error(`${email} was invited before.`)
        printOne({ email, invited: isNew }, options)
        const mailed = await mailInvitation(config, address)
        // Programs read only the JSON.
        if (!options.json) console.error(mailed)
      })
    })

  command
    .command('limits <account>')
    .description('set request and run limits for an account, in place of the defaults')
    .option('--requests-per-minute <number>', 'requests per minute, for all keys of the account together')
    .option('--runs-in-flight <number>', 'runs that can be open at the same time')
    .option('--default', 'restore the default limits')
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      const limits = parseAccountLimits(options)
      await withCore(async ({ accounts, services }) => {
        unwrap(await services.accounts.setLimits(caller, account, limits))
        const { limits: present } = await accounts.state(account as AccountId)
        printOne({ account_id: account, ...showLimits(present) }, options)
      })
    })

  command
    .command('tester <account>')
    .description('allow an account to see and run test models, or no longer')
    .addArgument(new Argument('<allowed>').choices(['yes', 'no']))
    .option('--json', 'print JSON')
    .action(async (account, allowed, options, command) => {
      const caller = operatorOf(command)
      const tester = allowed === 'yes'
      await withCore(async ({ services: { accounts } }) => unwrap(await accounts.setTester(caller, account, tester)))
      printOne({ account_id: account, tester }, options)
    })

  command
    .command('retention <account>')
    .description('keep nothing of the runs of an account from now on, or as much as usual')
    .addArgument(new Argument('<days>', 'days to keep inputs and outputs').choices(['0', 'default']))
    .requiredOption('--reason <text>', 'reason, recorded in the log; at most 200 characters')
    .option('--json', 'print JSON')
    .action(async (account, given, options, command) => {
      const caller = operatorOf(command)
      const { reason } = options
      checkReason(reason)
      const days = given === '0' ? 0 : undefined
      await withCore(async ({ services: { accounts } }) =>
        unwrap(await accounts.setRetention(caller, account, days, reason)),
      )
      printOne({ account_id: account, retention_days: days ?? null, reason }, options)
    })

  addNotices(command)
  addSuspension(command, 'suspend', 'refuse all requests of an account; accepted runs continue')
  addSuspension(command, 'resume', 'end the suspension of an account')

  command
    .command('close <account>')
    .description(
      'revoke all keys of an account and suspend it; refused while runs are open; the credits stay, and ' +
        '"tollgate accounts resume" opens it again without its keys',
    )
    .requiredOption('--reason <text>', 'reason, recorded in the log; at most 200 characters')
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      checkReason(options.reason)
      await withCore(async ({ services: { accounts } }) => {
        const { revokedKeys, balanceMicros, reason } = unwrap(await accounts.close(caller, account, options.reason))
        const credits = fromMicros(balanceMicros)
        printOne(
          { account_id: account, closed: true, reason, keys_revoked: revokedKeys, credits_balance: credits },
          options,
        )
      })
    })

  command
    .command('erase <account>')
    .description(
      'erase the personal data of an account for good: addresses, inputs, texts, file names and files; refused while ' +
        'runs are open; the credits stay in the log; the service does the work, within seconds if it is running',
    )
    .requiredOption('--reason <text>', 'reason, recorded in the log, so without personal data; at most 200 characters')
    .option('--backups <folder>', 'folder of the backups, whose list of erasures gets the account')
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      checkReason(options.reason)
      await withCore(async ({ services: { accounts } }) => {
        unwrap(await accounts.erase(caller, account, options.reason))
        if (options.backups !== undefined) await listErasures(options.backups, [account])
        printOne({ account_id: account, erased: true, reason: options.reason }, options)
      })
    })

  return command
}

const accountOf = (found: Found): AccountId => {
  switch (found.kind) {
    case 'account':
      return found.accountId
    case 'run':
      return found.run.accountId
    case 'key':
      return found.key.accountId
    case 'upload':
      return found.upload.accountId
    case 'purchase':
      return found.purchase.accountId
  }
}

const addSuspension = (parent: Command, name: 'suspend' | 'resume', description: string) =>
  parent
    .command(`${name} <account>`)
    .description(description)
    .requiredOption(
      '--reason <text>',
      'reason, recorded in the log; clients of a suspended account see the reason; at most 200 characters',
    )
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      const { reason } = options
      checkReason(reason)
      await withCore(async ({ services: { accounts } }) => unwrap(await accounts[name](caller, account, reason)))
      printOne({ account_id: account, suspended: name === 'suspend', reason }, options)
    })

/** A null limit is the default. */
const showLimits = ({ requestsPerMinute, runsInFlight }: AccountLimits) => ({
  requests_per_minute: requestsPerMinute ?? null,
  runs_in_flight: runsInFlight ?? null,
})

const show = ({
  account,
  tester,
  balanceMicros,
  suspension,
  limits,
  retentionDays,
  sums,
}: AccountSummary): Record<string, unknown> => ({
  account_id: account.accountId,
  email: account.email ?? null,
  ...(account.identity && { telegram: account.identity.subject }),
  tester,
  opened_at: account.openedAt,
  suspended_at: suspension?.since ?? null,
  suspension_reason: suspension?.reason ?? null,
  ...showLimits(limits),
  retention_days: retentionDays ?? null,
  credits_balance: fromMicros(balanceMicros),
  credits_granted: fromMicros(sums?.grantedMicros ?? 0),
  credits_withdrawn: fromMicros(sums?.withdrawnMicros ?? 0),
  credits_debited: fromMicros(sums?.debitedMicros ?? 0),
  credits_refunded: fromMicros(sums?.refundedMicros ?? 0),
  credits_released: fromMicros(sums?.releasedMicros ?? 0),
  credits_expired: fromMicros(sums?.expiredMicros ?? 0),
})

/**
 * Mails a recorded invitation. Returns a text that says where the mail went. Throws OperatorError if the mail server
 * refuses it.
 */
const mailInvitation = async (config: Config, to: string): Promise<string> => {
  if (config.registration.mode === 'closed')
    return 'No mail was sent: with REGISTRATION=closed, people cannot open accounts, even with an invitation.'
  const { openMailer } = await import('../boot/stores.ts')
  const mailer = await openMailer(config)
  const publicUrl = publicUrlOf(config, config.port)
  try {
    await mailer.send(invitationMessage({ to, brand: config.brand, publicUrl }))
  } catch (error) {
    const { message } = error as Error
    throw new OperatorError(`The invitation is recorded, but ${message}. Repeat the command to send the mail.`)
  } finally {
    mailer.close()
  }
  const where =
    mailer.folder === undefined
      ? `The invitation was mailed to ${to}.`
      : `SMTP_URL is not set, so the mail to ${to} is the newest file in ${mailer.folder}.`
  return `${where} The link in the mail is ${publicUrl}/console/sign-in; to change the link, set PUBLIC_URL.`
}
