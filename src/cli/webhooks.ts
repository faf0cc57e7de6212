import { Command, Option } from 'commander'
import { WEBHOOK_STATUSES, type WebhookAttempt, type WebhookRow } from '../../schemas/views.ts'
import { positive } from './arguments.ts'
import { operatorOf } from './operator.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

/** One or two screens. */
const DEFAULT_LIMIT = 50

export const webhooksCommand = (): Command => {
  const command = new Command('webhooks')

  command
    .command('list <account>')
    .description('list the webhooks of an account, newest run first')
    .addOption(new Option('--status <status>', 'show only webhooks with this status').choices(WEBHOOK_STATUSES))
    .option('--limit <number>', 'maximum number of webhooks', positive, DEFAULT_LIMIT)
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      const found = await withCore(async ({ services }) =>
        unwrap(await services.webhooks.list(caller, account, { status: options.status, limit: options.limit })),
      )
      printMany(found.map(show), options, 'No webhooks match. Only runs requested with webhook_url have a webhook.')
    })

  command
    .command('attempts <account> <run>')
    .description('list the latest delivery attempts for the webhook of a run, oldest first')
    .option('--json', 'print JSON')
    .action(async (account, run, options, command) => {
      const caller = operatorOf(command)
      const row = await withCore(async ({ services }) => unwrap(await services.webhooks.find(caller, account, run)))
      printMany(row.latest.map(showAttempt), options, 'No delivery has been attempted yet.')
    })

  command
    .command('redeliver <account> <run>')
    .description('deliver the webhook of an ended run again, starting with attempt 1')
    .option('--url <url>', 'deliver to this URL (default: the URL of the client)')
    .option('--json', 'print JSON')
    .action(async (account, run, options, command) => {
      const caller = operatorOf(command)
      await withCore(async ({ services }) => {
        const { runId, url } = unwrap(await services.webhooks.redeliver(caller, account, run, options.url))
        printOne({ account_id: account, run_id: runId, url, status: 'pending' }, options)
      })
    })

  command
    .command('rotate-secret <account>')
    .description('replace the webhook secret of an account; the previous secret also signs for 24 hours')
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      await withCore(async ({ services }) => {
        const { previousUntil } = unwrap(await services.webhooks.rotateSecret(caller, account))
        printOne({ account_id: account, previous_secret_signs_until: previousUntil ?? null }, options)
      })
    })

  return command
}

const show = ({ runId, url, status, attempts, latest, nextAttemptAt }: WebhookRow) => {
  const last = latest.at(-1)
  return {
    ...{ run_id: runId, url, status, attempts },
    last_status: last?.status ?? null,
    last_reason: last?.reason ?? null,
    last_attempt_at: last?.at ?? null,
    next_attempt_at: nextAttemptAt ?? null,
  }
}

const showAttempt = ({ attempt, at, status, reason, nextAttemptAt }: WebhookAttempt) => ({
  attempt,
  at,
  status: status ?? null,
  reason: reason ?? null,
  next_attempt_at: nextAttemptAt ?? null,
})
