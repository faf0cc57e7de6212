import { Command, InvalidArgumentError, Option } from 'commander'
import { WEBHOOK_STATUSES, type WebhookAttempt, type WebhookRow } from '../../schemas/views.ts'
import { operatorOf } from './operator.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

/** One or two screens. */
const DEFAULT_LIMIT = 50

export const webhooksCommand = (): Command => {
  const command = new Command('webhooks').description('list webhooks, redeliver them and rotate their secret')

  command
    .command('list <account>')
    .description('lists an account’s webhooks, newest run first')
    .addOption(new Option('--status <status>', 'only webhooks in this state').choices(WEBHOOK_STATUSES))
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
    .command('attempts <account> <run>')
    .description('lists the latest attempts to deliver the webhook of a run, oldest first')
    .option('--json', 'print JSON')
    .action(async (account, run, options, command) => {
      const caller = operatorOf(command)
      const row = await withCore(async ({ services }) => unwrap(await services.webhooks.find(caller, account, run)))
      printMany(row.latest.map(showAttempt), options, 'There was no attempt yet.')
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

  command
    .command('rotate-secret <account>')
    .description('replaces an account’s webhook secret; the previous one signs as well for 24 hours')
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

const positive = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 to 999999.')
  return Number(text)
}
