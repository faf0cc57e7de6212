import { runKey } from '../../../projections/runs.ts'
import type { AccountId, Moded, RunId } from '../../../schemas/primitives.ts'
import type { WebhookRow } from '../../../schemas/views.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { overlapEndMs } from '../../domain/account/webhooks.ts'
import { webhookUrlFault } from '../../domain/http-url.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { checkAccountId, findAccount } from '../accounts/find-account.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, type Caller, keyIdOf, modeOf } from '../caller.ts'
import { parseRunId } from '../ids.ts'
import type { Reads } from '../views/reads.ts'
import type { WebhookSecrets } from './send-webhook.ts'

interface Dependencies {
  accounts: AccountMailboxes
  reads: Reads
  clock: Clock
  secretsOf: WebhookSecrets
}

/** The secret that signs webhooks; after a rotation, also until when the one before it signs as well. */
export interface SigningSecret {
  secret: string
  previousUntil?: string
}

/** Shows and rotates the secret of an account's webhooks, and lists and redelivers them for the operator. */
export class Webhooks {
  readonly #dependencies: Dependencies

  readonly permissions = {
    secret: 'secret',
    rotateSecret: 'settings',
    list: 'operate',
    find: 'operate',
    redeliver: 'operate',
  } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The secret that signs the webhooks of the caller's account and mode. */
  async secret(caller: AccountCaller): Promise<Answer<SigningSecret>> {
    const { accountId } = caller
    return answer(this.#secretOf(accountId, await this.#dependencies.accounts.recentState(accountId), modeOf(caller)))
  }

  /** Makes a new secret. The present one signs beside it for a day. */
  async rotateSecret(caller: Caller, accountId: string): Promise<Answer<SigningSecret>> {
    const { accounts } = this.#dependencies
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const { value: owner } = checked
    const command = { type: 'RotateWebhookSecret', keyId: keyIdOf(caller) } as const
    const outcome = await accounts.execute(caller, owner, command)
    return 'refuse' in outcome ? outcome : answer(this.#secretOf(owner, await accounts.state(owner), modeOf(caller)))
  }

  /** The webhooks of an account, newest run first. */
  async list(
    caller: Caller,
    accountId: string,
    { status, limit }: { status?: WebhookRow['status'] | undefined; limit: number },
  ): Promise<Answer<WebhookRow[]>> {
    const found = await findAccount(this.#dependencies.reads, caller, accountId)
    if ('refuse' in found) return found
    const rows: WebhookRow[] = []
    const range = { prefix: `${accountId}/`, newestFirst: true }
    for await (const { row } of this.#dependencies.reads.scan('webhooks', BY_KEY, range)) {
      if (!status || row.status === status) rows.push(row)
      if (rows.length === limit) break
    }
    return answer(rows)
  }

  /** The webhook of a run of an account. */
  async find(caller: Caller, accountId: string, run: string): Promise<Answer<WebhookRow>> {
    const { reads } = this.#dependencies
    const found = await findAccount(reads, caller, accountId)
    if ('refuse' in found) return found
    const runId = parseRunId(run)
    const row = runId && (await reads.get('webhooks', runKey(found.value.accountId, runId)))
    return row ? answer(row) : refuse('webhook_not_found')
  }

  /** Starts the webhook delivery of an ended run again, to another URL if one is given. */
  async redeliver(
    caller: Caller,
    accountId: string,
    run: string,
    otherUrl?: string,
  ): Promise<Answer<{ runId: RunId; url: string }>> {
    const found = await this.find(caller, accountId, run)
    if ('refuse' in found) return found
    const { accountId: owner, runId, url: lastUrl } = found.value
    const url = otherUrl ?? lastUrl
    const fault = webhookUrlFault(url)
    if (fault) return refuse('webhook_url_invalid', { parameter: 'webhook_url', url, fault })
    const { accounts } = this.#dependencies
    const command = { type: 'RedeliverWebhook', runId, url } as const
    const outcome = await accounts.execute(caller, owner, command)
    return 'refuse' in outcome ? outcome : answer({ runId, url })
  }

  #secretOf(accountId: AccountId, state: AccountState, mode: Moded): SigningSecret {
    const { clock, secretsOf } = this.#dependencies
    const nowMs = clock.nowMs()
    const [secret] = secretsOf(accountId, state, nowMs, mode) as [string]
    const untilMs = mode.livemode === false ? undefined : overlapEndMs(state, nowMs)
    return { secret, ...(untilMs !== undefined && { previousUntil: new Date(untilMs).toISOString() }) }
  }
}
