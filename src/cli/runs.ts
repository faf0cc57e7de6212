import { Command, Option } from 'commander'
import type { RunRow, RunStatus } from '../../schemas/views.ts'
import { fromMicros } from '../domain/money.ts'
import { checkReason, parseCredits, positive } from './arguments.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const runsCommand = (): Command => {
  const command = new Command('runs')

  command
    .command('list')
    .description('list runs, newest first')
    .option('--account <account>', 'show only runs of this account')
    .addOption(new Option('--status <status>', 'show only runs with this status').choices(STATUSES))
    .option('--model <model>', 'show only runs of this model or endpoint')
    .option('--since <time>', 'show only runs since this time in ISO 8601, such as 2026-11-01 or 2026-11-01T12:00:00Z')
    .option('--limit <number>', 'maximum number of runs', positive, DEFAULT_LIMIT)
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const { account: accountId, status, model, since, limit } = options
      const sought = { accountId, status, model, limit, sinceMs: since === undefined ? undefined : parseTime(since) }
      const found = await withCore(async ({ services }) => unwrap(await services.runSearch.list(caller, sought)))
      printMany(found.map(show), options, 'No runs match.')
    })

  command
    .command('show <run>')
    .description('show a run; "tollgate audit explain" explains its price')
    .option('--json', 'print JSON')
    .action(async (id, options, command) => {
      const caller = operatorOf(command)
      const [found] = await withCore(async ({ services }) => unwrap(await services.lookups.any(caller, id)))
      if (found?.kind !== 'run') throw new OperatorError('There is no such run; "tollgate runs list" shows the newest.')
      printOne({ ...show(found.run), ...details(found.run) }, options)
    })

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

/** One or two screens. */
const DEFAULT_LIMIT = 50

const STATUSES = ['queued', 'processing', 'completed', 'failed'] satisfies RunStatus[]

const parseTime = (text: string): number => {
  const ms = /^\d{4}-\d{2}-\d{2}(T\S+)?$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new OperatorError(`${JSON.stringify(text)} must be a time in ISO 8601, such as 2026-11-01T12:00:00Z.`)
}

const show = (run: RunRow) => ({
  run_id: run.runId,
  account_id: run.accountId,
  status: run.status,
  model: run.model,
  created_at: run.createdAt,
  completed_at: run.completedAt ?? null,
  credits_charged: fromMicros(run.chargedMicros),
  credits_refunded: fromMicros(run.refundedMicros ?? 0),
})

/** Neither inputs nor results: those belong to the account. */
const details = (run: RunRow) => ({
  credits_released: fromMicros(run.releasedMicros ?? 0),
  endpoint: run.endpoint,
  test: run.livemode === false,
  key_id: run.keyId ?? null,
  label: run.label ?? null,
  budget: run.budget ?? null,
  started_at: run.startedAt ?? null,
  provider: run.provider ?? null,
  error: run.error?.code ?? null,
  error_message: run.error?.message ?? null,
})
