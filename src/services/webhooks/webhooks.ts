import { runKey } from '../../../projections/runs.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { WebhookRow } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import { webhookUrlFault } from '../../domain/webhook-url.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { findAccount } from '../accounts/find-account.ts'
import { type Answer, answer } from '../answer.ts'
import type { AccountCaller, Caller } from '../caller.ts'
import { parseRunId } from '../ids.ts'
import type { Reads } from '../reads.ts'

interface Parts {
  accounts: AccountMailboxes
  reads: Reads
  secretOf(accountId: AccountId): string
}

/** Shows an account's webhooks and their signing secret, and redelivers webhooks. */
export class Webhooks {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The secret that signs the webhooks of the caller's account. */
  async secret({ accountId }: AccountCaller): Promise<Answer<string>> {
    return answer(this.#parts.secretOf(accountId))
  }

  /** The webhooks of an account, newest run first. */
  async list(
    caller: Caller,
    accountId: string,
    { status, limit }: { status?: WebhookRow['status'] | undefined; limit: number },
  ): Promise<Answer<WebhookRow[]>> {
    const found = await findAccount(this.#parts.reads, caller, accountId)
    if ('refuse' in found) return found
    const rows: WebhookRow[] = []
    const range = { prefix: `${accountId}/`, newestFirst: true }
    for await (const { row } of this.#parts.reads.scan('webhooks', BY_KEY, range)) {
      if (!status || row.status === status) rows.push(row)
      if (rows.length === limit) break
    }
    return answer(rows)
  }

  /** Starts the webhook delivery of an ended run again, to another URL if one is given. */
  async redeliver(
    caller: Caller,
    accountId: string,
    run: string,
    otherUrl?: string,
  ): Promise<Answer<{ runId: RunId; url: string }>> {
    const { accounts, reads } = this.#parts
    const found = await findAccount(reads, caller, accountId)
    if ('refuse' in found) return found
    const { accountId: owner } = found.value
    const runId = parseRunId(run)
    const row = runId && (await reads.get('webhooks', runKey(owner, runId)))
    if (!row) return refuse('webhook_not_found')
    const url = otherUrl ?? row.url
    const fault = webhookUrlFault(url)
    if (fault) return refuse('webhook_url_invalid', { parameter: 'webhook_url', url, fault })
    const outcome = await accounts.execute(caller, owner, { type: 'RedeliverWebhook', runId, url })
    return 'refuse' in outcome ? outcome : answer({ runId, url })
  }
}
