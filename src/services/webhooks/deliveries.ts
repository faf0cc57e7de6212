import { fold } from '../../../projections/define.ts'
import { runKey } from '../../../projections/runs.ts'
import { webhooks as webhookView } from '../../../projections/webhooks.ts'
import type { DeliveriesQuery, WebhookDelivery, WebhookTest } from '../../../schemas/api/delivery.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import type { WebhookAttempt, WebhookRow } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, isListedFor, isSeenBy, keyIdOf } from '../caller.ts'
import { parseRunId, webhookIdOf } from '../ids.ts'
import { seenBy } from '../policies/redaction.ts'
import { type RunRowDependencies, readRunRow } from '../runs/run-rows.ts'
import { indexFor, NewestFirst, type Page, type WaitingClient } from '../views/newest-first.ts'
import type { WebhookTestResult } from './webhook-tests.ts'

interface Dependencies extends RunRowDependencies {
  accounts: AccountMailboxes
  clock: Clock
}

/** Shows the owner of an account the deliveries of its webhooks, and sends them again. */
export class Deliveries {
  readonly #dependencies: Dependencies
  readonly #newestFirst: NewestFirst

  readonly permissions = { list: 'read', ofRun: 'read', resend: 'write' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#newestFirst = new NewestFirst(dependencies)
  }

  /** A page of the deliveries, newest run first. */
  async list(
    caller: AccountCaller,
    { limit, cursor, status }: DeliveriesQuery & { limit: number },
    client?: WaitingClient,
  ): Promise<Answer<Page<WebhookRow, RunId>>> {
    const matches = (row: WebhookRow) => isListedFor(caller, row) && (!status || row.status === status)
    const query = { limit, cursor, matches, ...indexFor(caller) }
    const page = await this.#newestFirst.page('webhooks', caller.accountId, query, client)
    return answer({ ...page, found: seenBy(caller, page.found) })
  }

  /** The delivery of a run, by either form of the run's id; none if the run has no webhook. */
  async ofRun(caller: AccountCaller, run: string): Promise<Answer<WebhookRow[]>> {
    const { accountId } = caller
    const { reads } = this.#dependencies
    const runId = parseRunId(run)
    const found = runId && (await readRunRow(this.#dependencies, accountId, runId))
    if (!found || !isSeenBy(caller, found)) return refuse('run_not_found')
    const row = await reads.getOwn(accountId, 'webhooks', runKey(accountId, runId))
    return answer(row ? [seenBy(caller, row)] : [])
  }

  /** Starts a delivery again that has succeeded or was abandoned: with the same id, and to the URL of the last one. */
  async resend(caller: AccountCaller, run: string): Promise<Answer<WebhookRow>> {
    const found = await this.ofRun(caller, run)
    if ('refuse' in found) return found
    const [row] = found.value
    if (!row) return refuse('webhook_not_found')
    const { runId, url } = row
    const command = { type: 'RedeliverWebhook', runId, url, keyId: keyIdOf(caller) } as const
    const outcome = await this.#dependencies.accounts.execute(caller, caller.accountId, command)
    return 'refuse' in outcome ? outcome : answer(fold(webhookView, outcome.accept, row) as WebhookRow)
  }
}

/** The delivery of a webhook as the API shows it. */
export const deliveryItem = ({ runId, livemode, url, status, nextAttemptAt, latest }: WebhookRow): WebhookDelivery => ({
  object: 'webhook_delivery',
  webhook_id: webhookIdOf(runId),
  run_id: runId,
  livemode: livemode !== false,
  url,
  status,
  ...(nextAttemptAt !== undefined && { next_attempt_at: nextAttemptAt }),
  attempts: latest.map(attemptItem),
})

/** The result of a test as the API shows it. */
export const testItem = ({ testId, url, status, reason, latencyMs }: WebhookTestResult): WebhookTest => ({
  object: 'webhook_test',
  webhook_id: webhookIdOf(testId),
  url,
  delivered: reason === undefined,
  ...(status !== undefined && { status_code: status }),
  latency_ms: latencyMs,
  message: reason ?? `The receiver accepted the test with ${status}.`,
})

const attemptItem = ({ attempt, at, status, reason, nextAttemptAt }: WebhookAttempt) => ({
  attempt,
  at,
  ...(status !== undefined && { status_code: status }),
  ...(reason !== undefined && { error: reason }),
  ...(nextAttemptAt !== undefined && { next_attempt_at: nextAttemptAt }),
})
