import type { WebhookTested } from '../../../schemas/webhook-events.ts'
import { MAX_TESTS } from '../../domain/account/webhooks.ts'
import { webhookUrlFault } from '../../domain/http-url.ts'
import { refuse } from '../../domain/refusal.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Random } from '../../ports/random.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, keyIdOf, modeOf } from '../caller.ts'
import { newWebhookTestId, webhookIdOf } from '../ids.ts'
import { type SendDependencies, sendWebhook, type WebhookSecrets } from './send-webhook.ts'

/** Tests that a process makes at a time. Each may wait 15 seconds for a receiver that does not answer. */
const MAX_AT_ONCE = 64

interface Dependencies extends SendDependencies {
  accounts: AccountMailboxes
  random: Random
  secretsOf: WebhookSecrets
  /** Aborts when the process stops, which cuts connections. */
  stopping: AbortSignal
}

export interface WebhookTestResult extends WebhookTested {
  url: string
}

/** Sends test messages, so that receivers can be set up without runs. */
export class WebhookTests {
  readonly #dependencies: Dependencies
  readonly #open = new OpenCounts<string>(MAX_TESTS, MAX_AT_ONCE)

  readonly permissions = { send: 'write' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Sends a test to a URL, in one attempt, and resolves to its recorded result. Rejects with Unavailable. */
  async send(caller: AccountCaller, url: string): Promise<Answer<WebhookTestResult>> {
    const fault = webhookUrlFault(url)
    if (fault) return refuse('webhook_url_invalid', { parameter: 'url', url, fault })
    if (this.#dependencies.outbound.refuses(url)) return refuse('address_not_public', { parameter: 'url' })
    const close = this.#open.open(caller.accountId)
    if (!close) throw new Unavailable('too many webhooks are being tested at the same time', { part: 'load' })
    return this.#attempt(caller, url).finally(close)
  }

  /** The test is recorded before its attempt. After a crash in between it has no result, and still counts. */
  async #attempt(caller: AccountCaller, url: string): Promise<Answer<WebhookTestResult>> {
    const { accounts, clock, random, secretsOf, stopping } = this.#dependencies
    const { accountId, requestId } = caller
    const testId = newWebhookTestId(random)
    const nowMs = clock.nowMs()
    const request = { type: 'RequestWebhookTest', keyId: keyIdOf(caller), testId, url } as const
    const requested = await accounts.execute(caller, accountId, request)
    if ('refuse' in requested) return requested
    const startedMs = clock.monotonicMs()
    const { status, reason } = await sendWebhook(this.#dependencies, {
      ...{
        url,
        id: webhookIdOf(testId),
        secrets: secretsOf(accountId, await accounts.state(accountId), nowMs, modeOf(caller)),
      },
      event: {
        type: 'webhook.test',
        timestamp: new Date(nowMs).toISOString(),
        livemode: modeOf(caller).livemode !== false,
        data: { message: TEST_MESSAGE },
      },
    })
    const result: WebhookTested = {
      testId,
      latencyMs: Math.max(0, Math.round(clock.monotonicMs() - startedMs)),
      ...(status !== undefined && { status }),
      ...(reason !== undefined && { reason }),
    }
    // The stop may have cut the connection; that is no failure of the receiver.
    if (stopping.aborted && reason !== undefined) throw new Unavailable('the process stopped during the test')
    // The key may have been revoked meanwhile.
    const recorded = await accounts.execute({ kind: 'service', requestId }, accountId, {
      type: 'RecordWebhookTest',
      result,
    })
    return 'refuse' in recorded ? recorded : answer({ ...result, url })
  }
}

const TEST_MESSAGE = 'This is a test. It concerns no run.'
