import type { RunRow, WebhookRow } from '../../../schemas/views.ts'
import type { KeyBudgetState } from '../../../src/domain/account/budgets.ts'
import type { NewEvent } from '../../../src/ports/event-log.ts'
import type { WebhookTestResult } from '../../../src/services/webhooks/webhook-tests.ts'
import { type AuditedEvent, Auditor } from '../../auditor/auditor.ts'
import { BudgetTruth } from './budget-truth.ts'
import { Known } from './known.ts'
import { NoticeTruth } from './notice-truth.ts'
import type { SimulatedProcess } from './process.ts'
import { PurchaseTruth } from './purchase-truth.ts'

interface Ledger {
  /** The balance after each event that moved it, with the event's position. */
  balances: { position: number; balanceMicros: number }[]
  /** For each run, where it was queued, and how and where it ended. */
  runs: Map<string, LoggedRun>
  /** The positions of grants and withdrawals, by reference. */
  references: Map<string, number>
  /** Refunds that no answer has told of, by run and amount. */
  refunds: string[]
  keys: Map<string, 'active' | 'revoked'>
  budgets: BudgetTruth
}

interface LoggedRun {
  position: number
  isTest: boolean
  chargedMicros: number
  /** What its tokens did not cost. */
  releasedMicros?: number
  ended?: 'completed' | 'failed'
  endedAt?: number
}

/** Follows the log, and compares it with the answers of clients and the webhooks of receivers. */
export class Truth {
  /** One for each stream, of any category. */
  readonly #auditors = new Map<string, Auditor>()
  readonly #ledgers = new Map<string, Ledger>()
  /** Writes that a process has acknowledged, which all its answers must show. */
  readonly acknowledged = new Known()
  /** States that a process has shown, which its views must not fall behind. */
  readonly shown = new Known()
  /** The account of each address that people register with. */
  readonly #accounts = new Map<string, string>()
  readonly #webhooks = new Map<string, string>()
  readonly #answeredWebhooks = new Set<string>()
  readonly notices: NoticeTruth
  readonly purchases: PurchaseTruth
  /** The URLs of the tests of webhooks that were requested, by the id of the webhook. */
  readonly #webhookTests = new Map<string, string>()
  readonly #onViolation: (violation: string) => void
  /** Whether a run may lose the process that works on it. */
  mayInterrupt = true
  readonly #isBilled: (runId: string) => boolean

  /** `isBilled` tells whether a vendor may have accepted a run, which is never submitted again. */
  constructor(onViolation: (violation: string) => void, isBilled: (runId: string) => boolean) {
    this.#onViolation = onViolation
    this.#isBilled = isBilled
    this.purchases = new PurchaseTruth(onViolation)
    this.notices = new NoticeTruth(onViolation, id => this.#answeredWebhooks.has(id))
  }

  /** Follows an append. `firstPosition` is the position of its first event. */
  follow(stream: string, events: NewEvent[], firstPosition: number) {
    const auditor = this.#auditors.get(stream) ?? new Auditor(stream)
    this.#auditors.set(stream, auditor)
    auditor.followChain(events as AuditedEvent[])
    for (const fault of auditor.faults.splice(0)) this.#onViolation(fault)
    this.notices.follow(stream, events)
    if (!stream.startsWith('account-')) return
    this.purchases.follow(stream, events)
    const { balances, runs, references, refunds, keys, budgets } = this.#ledgerOf(stream)
    for (const [index, event] of events.entries()) {
      const { type, data } = event
      const position = firstPosition + index
      budgets.follow(event, position)
      const { runId, livemode, amountMicros, balanceAfterMicros, reference, error, keyId, email, accountId, kind } =
        data as {
          runId: string
          livemode?: false
          keyId: string
          email?: string
          accountId?: string
          kind?: string
          amountMicros: number
          balanceAfterMicros?: number
          reference?: string
          error?: { code: string }
        }
      if (type === 'AccountOpened') this.expectOwner(email as string, accountId as string)
      // The second spelling of a mailbox gets no welcome credits.
      if (type === 'AccountOpened' && !events.some(({ type }) => type === 'CreditsGranted'))
        balances.push({ position, balanceMicros: 0 })
      if (kind === 'welcome' && balances.length > 0) this.#onViolation(`${stream} got its welcome late, or twice`)
      if (balanceAfterMicros !== undefined) balances.push({ position, balanceMicros: balanceAfterMicros })
      if (type === 'CreditsDebited') runs.set(runId, { position, isTest: false, chargedMicros: amountMicros })
      const accepts = type === 'RunQueued' || type === 'RunStarted'
      if (accepts && livemode === false) runs.set(runId, { position, isTest: true, chargedMicros: 0 })
      if (reference !== undefined) references.set(reference, position)
      if (error?.code === 'interrupted' && !this.mayInterrupt && !this.#isBilled(runId))
        this.#onViolation(`${runId} was interrupted, where no process was`)
      if (type === 'ApiKeyCreated') keys.set(keyId, 'active')
      if (type === 'ApiKeyRevoked') keys.set(keyId, 'revoked')
      if (type === 'CreditsRefunded') refunds.push(`${runId} ${amountMicros}`)
      if (type === 'WebhookDelivered' && !this.#answeredWebhooks.has(webhookOf(runId)))
        this.#onViolation(`the webhook of ${runId} was recorded as delivered, and no receiver accepted it`)
      this.#followTest(type, data as { testId: string; url: string; reason?: string })
      const run = runs.get(runId)
      if (run && type === 'CreditsReleased') run.releasedMicros = amountMicros
      if (run && type === 'RunCompleted') Object.assign(run, { ended: 'completed', endedAt: position })
      if (run && type === 'RunFailed') Object.assign(run, { ended: 'failed', endedAt: position })
    }
  }

  /**
   * A client was told of a run through a process: the run is in the log, and has not ended otherwise there. If the
   * client knows of everything up to a position, it is not told of an earlier state.
   */
  expectRun(accountId: string, process: SimulatedProcess, shown: RunRow, since = -1) {
    const { runId, status, chargedMicros, releasedMicros, livemode } = shown
    const run = this.#ledgerOf(`account-${accountId}`).runs.get(runId)
    if (!run) return this.#onViolation(`${runId} was acknowledged, and is not in the log`)
    const isEnded = status === 'completed' || status === 'failed'
    if (isEnded ? run.ended !== status : run.endedAt !== undefined && run.endedAt <= since)
      this.#onViolation(`${runId} was shown as ${status}, and is ${run.ended ?? 'open'} in the log`)
    if (run.isTest !== (livemode === false)) this.#onViolation(`${runId} was shown in the other mode`)
    if (run.chargedMicros !== chargedMicros)
      this.#onViolation(`${runId} was shown as charged ${chargedMicros}, and cost ${run.chargedMicros}`)
    if (isEnded && run.releasedMicros !== releasedMicros)
      this.#onViolation(`${runId} was shown with ${releasedMicros} released, and ${run.releasedMicros} were`)
    this.shown.note(accountId, process, (isEnded && run.endedAt) || run.position)
  }

  /** Whether the log says that a test key has asked for the run. */
  isTest(runId: string): boolean {
    return [...this.#ledgers.values()].some(({ runs }) => runs.get(runId)?.isTest)
  }

  /** A process has accepted a run, whose row was already expected. */
  noteAccepted(accountId: string, process: SimulatedProcess, runId: string) {
    const run = this.#ledgerOf(`account-${accountId}`).runs.get(runId)
    if (run) this.acknowledged.note(accountId, process, run.position)
  }

  /** An account was opened with an address, or signed in to: it is always the same account. */
  expectOwner(email: string, accountId: string) {
    const known = this.#accounts.get(email) ?? accountId
    if (known !== accountId) this.#onViolation(`${email} opens ${accountId}, and has the account ${known}`)
    this.#accounts.set(email, accountId)
  }

  /** A grant or withdrawal was acknowledged to a client through a process. */
  expectReference(accountId: string, process: SimulatedProcess, reference: string) {
    const position = this.#ledgerOf(`account-${accountId}`).references.get(reference)
    if (position === undefined) return this.#onViolation(`${reference} was acknowledged, and is not in the log`)
    this.acknowledged.note(accountId, process, position)
  }

  /** A refund was acknowledged. */
  expectRefund(accountId: string, runId: string, amountMicros: number) {
    const { refunds } = this.#ledgerOf(`account-${accountId}`)
    const index = refunds.indexOf(`${runId} ${amountMicros}`)
    if (index === -1) return this.#onViolation(`a refund of ${amountMicros} for ${runId} is not in the log`)
    refunds.splice(index, 1)
  }

  /** The creation or revocation of a key was acknowledged. */
  expectKey(accountId: string, keyId: string, state: 'active' | 'revoked') {
    const found = this.#ledgerOf(`account-${accountId}`).keys.get(keyId)
    if (found === undefined || (state === 'revoked' && found !== state))
      this.#onViolation(`${keyId} was acknowledged as ${state}, and is ${found} in the log`)
  }

  /** A client was told that a run does not exist. */
  expectNoRun(accountId: string, runId: string, since: number) {
    const run = this.#ledgerOf(`account-${accountId}`).runs.get(runId)
    if (run && run.position <= since)
      this.#onViolation(`${runId} was not found, and is in the log since ${run.position}`)
  }

  /** The position of the last event that moved an account's balance. */
  lastBalance(accountId: string): number {
    return this.#ledgerOf(`account-${accountId}`).balances.at(-1)?.position ?? -1
  }

  /** A client was told a balance: one that the account had since the given position. */
  expectBalance(accountId: string, since: number, balanceMicros: number) {
    const { balances } = this.#ledgerOf(`account-${accountId}`)
    const first = Math.max(
      0,
      balances.findLastIndex(({ position }) => position <= since),
    )
    if (!balances.slice(first).some(balance => balance.balanceMicros === balanceMicros))
      this.#onViolation(
        `${accountId} was told a balance of ${balanceMicros}, which it has not had since position ${since}`,
      )
  }

  /** A run of a key was refused because of its budget: the key had spent so much at some time since the position. */
  expectSpent(
    accountId: string,
    keyId: string,
    since: number,
    budget: Pick<KeyBudgetState, 'spentMicros' | 'renewsAt'>,
  ) {
    if (!this.#ledgerOf(`account-${accountId}`).budgets.hasSpent(keyId, since, budget))
      this.#onViolation(`${keyId} was told that it had spent ${budget.spentMicros}, which it has not since ${since}`)
  }

  /** A webhook arrived: it tells of an end that is in the log, always the same, and at the account's own address. */
  expectWebhook(id: string, url: string, body: string) {
    const before = this.#webhooks.get(id)
    if (before !== undefined && before !== body)
      this.#onViolation(`${id} arrived with ${body}, and before with ${before}`)
    this.#webhooks.set(id, body)
    const { livemode, data } = JSON.parse(body)
    const { run_id: runId, status } = data as { run_id: string; status: string }
    const [stream, ledger] = [...this.#ledgers].find(([, { runs }]) => runs.has(runId)) ?? []
    const run = ledger?.runs.get(runId)
    if (id !== webhookOf(runId)) this.#onViolation(`${id} told of ${runId}`)
    if (run?.isTest === livemode) this.#onViolation(`${id} told of ${runId} in the other mode`)
    if (run?.ended !== status) this.#onViolation(`${id} told of ${status}, and the log says ${run?.ended}`)
    if (stream !== `account-${url.split('/').at(-1)}`) this.#onViolation(`${id} of ${stream} arrived at ${url}`)
  }

  /** A test of a webhook arrived: it was counted before it was sent. */
  expectWebhookTest(id: string, url: string) {
    const recorded = this.#webhookTests.get(id)
    if (recorded !== url) this.#onViolation(`${id} tests ${url}, and the log says ${recorded}`)
  }

  /** A client was told the result of its test. */
  expectTestResult(accountId: string, { testId, url, reason }: WebhookTestResult) {
    this.expectWebhookTest(webhookOf(testId), url)
    if (reason === undefined && !this.#answeredWebhooks.has(webhookOf(testId)))
      this.#onViolation(`${accountId} was told that ${testId} was accepted, and no receiver accepted it`)
  }

  /** A client was shown a delivery of its account: of a run that is in the log, and delivered only if it arrived. */
  expectDelivery(accountId: string, { accountId: owner, runId, status }: WebhookRow) {
    if (owner !== accountId || !this.#ledgerOf(`account-${accountId}`).runs.has(runId))
      this.#onViolation(`${accountId} was shown the webhook of ${runId}`)
    if (status === 'delivered' && !this.#answeredWebhooks.has(webhookOf(runId)))
      this.#onViolation(`the webhook of ${runId} was shown as delivered, and no receiver accepted it`)
  }

  /** A receiver accepted a webhook or notice. */
  noteAnswer(id: string) {
    this.#answeredWebhooks.add(id)
  }

  /** The runs that have not ended. */
  openRuns(): string[] {
    return [...this.#ledgers].flatMap(([stream, { runs }]) =>
      [...runs].filter(([, { ended }]) => !ended).map(([runId]) => `${runId} of ${stream} has not ended`),
    )
  }

  pendingDeliveries(): string[] {
    const webhooks = [...this.#auditors.values()].flatMap(({ pendingDeliveries }) =>
      pendingDeliveries.map(runId => `the webhook of ${runId} was neither delivered nor abandoned`),
    )
    return [...webhooks, ...this.notices.pending()]
  }

  #followTest(type: string, { testId, url, reason }: { testId: string; url: string; reason?: string }) {
    if (type === 'WebhookTestRequested') this.#webhookTests.set(webhookOf(testId), url)
    if (type === 'WebhookTested' && reason === undefined && !this.#answeredWebhooks.has(webhookOf(testId)))
      this.#onViolation(`${testId} was recorded as delivered, and no receiver accepted it`)
  }

  #ledgerOf(stream: string): Ledger {
    let ledger = this.#ledgers.get(stream)
    if (!ledger) {
      ledger = {
        balances: [],
        runs: new Map(),
        references: new Map(),
        refunds: [],
        keys: new Map(),
        budgets: new BudgetTruth(),
      }
      this.#ledgers.set(stream, ledger)
    }
    return ledger
  }
}

const webhookOf = (id: string) => id.replace(/^[a-z]+_/, 'msg_')
