import { Command, InvalidArgumentError, Option } from 'commander'
import { runKey } from '../../projections/runs.ts'
import type { WebhookRow } from '../../schemas/views.ts'
import { webhookUrlFault } from '../domain/webhook-url.ts'
import { BY_KEY } from '../ports/view-store.ts'
import { parseRunId } from '../services/ids.ts'
import { OperatorError } from '../services/operator-error.ts'
import { findAccount } from './find-account.ts'
import { cause, printMany, printOne, withCore } from './run.ts'

/** Rows read at a time. */
const PAGE = 1000

/** A screen or two. */
const DEFAULT_LIMIT = 50

const statuses: WebhookRow['status'][] = ['waiting', 'pending', 'delivered', 'abandoned']

export const webhooksCommand = (): Command => {
  const command = new Command('webhooks').description('see what receivers were told of runs, and tell them again')

  command
    .command('list <account>')
    .description('lists an account’s webhooks, the newest run first')
    .addOption(new Option('--status <status>', 'only those in this state').choices(statuses))
    .option('--limit <number>', 'how many', positive, DEFAULT_LIMIT)
    .option('--json', 'print JSON')
    .action(async (account, options) => {
      const found = await withCore(async core => {
        const { accountId } = await findAccount(core, account)
        const rows: WebhookRow[] = []
        let after: string | undefined
        while (rows.length < options.limit) {
          const range = { prefix: `${accountId}/`, after, newestFirst: true, limit: PAGE }
          const page = await core.reads.list('webhooks', BY_KEY, range)
          rows.push(...page.map(entry => entry.row).filter(row => !options.status || row.status === options.status))
          if (page.length < PAGE) break
          after = page.at(-1)?.place
        }
        return rows.slice(0, options.limit).map(show)
      })
      printMany(found, options, 'There are no such webhooks; a run has one when it was asked for with webhook_url.')
    })

  command
    .command('redeliver <account> <run>')
    .description('tells a receiver again of a run that has ended, from the first attempt on')
    .option('--url <url>', 'where to, instead of where the client wanted it')
    .option('--json', 'print JSON')
    .action(async (account, run, options) => {
      const asked = await withCore(async core => {
        const { accountId } = await findAccount(core, account)
        const runId = parseRunId(run)
        const row = runId && (await core.reads.get('webhooks', runKey(accountId, runId)))
        if (!runId || !row)
          throw new OperatorError('The account has no such run with a webhook; see "tollgate webhooks list ACCOUNT".')
        const url = checkUrl(options.url ?? row.url)
        const outcome = await core.accounts.execute(accountId, { type: 'RedeliverWebhook', runId, url }, cause)
        if ('refuse' in outcome) throw OperatorError.of(outcome.refuse)
        return { account_id: accountId, run_id: runId, url, status: 'pending' }
      })
      printOne(asked, options)
    })

  return command
}

const show = (row: WebhookRow) => ({
  run_id: row.runId,
  url: row.url,
  status: row.status,
  attempts: row.attempts,
  last_status: row.lastStatus ?? null,
  last_reason: row.lastReason ?? null,
  last_attempt_at: row.lastAttemptAt ?? null,
  next_attempt_at: row.nextAttemptAt ?? null,
})

const checkUrl = (text: string): string => {
  const fault = webhookUrlFault(text)
  if (fault) throw new OperatorError(`${JSON.stringify(text)} cannot be told: it ${fault}.`)
  return text
}

const positive = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 to 999999.')
  return Number(text)
}
