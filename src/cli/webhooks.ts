import { Command, InvalidArgumentError, Option } from 'commander'
import type { WebhookRow } from '../../schemas/views.ts'
import { operatorOf } from './operator.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

/** One or two screens. */
const DEFAULT_LIMIT = 50

const statuses: WebhookRow['status'][] = ['waiting', 'pending', 'delivered', 'abandoned']

export const webhooksCommand = (): Command => {
  const command = new Command('webhooks').description('list webhooks and redeliver them')

  command
    .command('list <account>')
    .description('lists an account’s webhooks, newest run first')
    .addOption(new Option('--status <status>', 'only webhooks in this state').choices(statuses))
    .option('--limit <number>', 'the maximum number', positive, DEFAULT_LIMIT)
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      const found = await withCore(async ({ services }) =>
        unwrap(await services.webhooks.list(caller, account, { status: options.status, limit: options.limit })),
      )
      printMany(
        found.map(show),
        options,
        'No webhooks match. A run has a webhook if it was requested with webhook_url.',
      )
    })

  command
    .command('redeliver <account> <run>')
    .description('delivers the webhook of an ended run again, from the first attempt')
    .option('--url <url>', 'the URL to use instead of the client’s')
    .option('--json', 'print JSON')
    .action(async (account, run, options, command) => {
      const caller = operatorOf(command)
      await withCore(async ({ services }) => {
        const { runId, url } = unwrap(await services.webhooks.redeliver(caller, account, run, options.url))
        printOne({ account_id: account, run_id: runId, url, status: 'pending' }, options)
      })
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

const positive = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 to 999999.')
  return Number(text)
}
