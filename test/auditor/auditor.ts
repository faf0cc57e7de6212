import { isDeepStrictEqual } from 'node:util'
import { makeLink } from '../support/links.ts'
import { Budgets } from './budgets.ts'
import { Notices } from './notices.ts'
import { hasTokens, priceOf, type Receipt, usedLines } from './prices.ts'
import { TopUps } from './top-ups.ts'
import { WebhookCare } from './webhook-care.ts'

/** An event as the auditor sees it, without any types of the service. */
export interface AuditedEvent {
  id?: string
  type: string
  data: unknown
  /** The data as the log holds it, if `data` is not that. */
  stored?: unknown
  metadata: unknown
}

type Facts = Record<string, unknown>

interface Run {
  /** The refunds of operators, after the run was completed. */
  refundedMicros: number
  state: 'debited' | 'queued' | 'processing' | 'completed' | 'failed' | 'refunded'
  /** The debit, less the release. */
  chargedMicros: number
  /** The receipt of its debit if tokens have a price, and that of its release. */
  reserve?: Receipt
  settled?: Receipt
  /** The facts of its debit that its refunds and its release repeat. */
  debit: Facts
  /** Asked for by a test key: it moves no credits, and only the sandbox may do it. */
  isTest?: boolean
  /** When what it may have left is deleted. */
  willDeleteAt?: unknown
}

/** The maximum number of uploads of an account. */
const MAX_UPLOADS = 10_000

/** The maximum number of open sessions of an account. */
const MAX_SESSIONS = 20

/** The maximum number of runs of an account that have not ended. */
const MAX_OPEN = 10_000

/** The events of the append beside one, and whether they have a type and are about the same run. */
interface Neighbours extends Record<'isBefore' | 'isAfter', (type: string) => boolean> {
  before: AuditedEvent | undefined
  after: AuditedEvent | undefined
}

type Upload = 'granted' | 'stored' | 'sealed' | 'deleting'

const DAY_MS = 24 * 60 * 60 * 1000

/** The event types of all categories of streams other than accounts. */
const TYPES: Record<string, string[]> = {
  catalog: ['FamilyPublished', 'FamilyRevised', 'FamilyWithdrawn', 'PacksPublished'],
  login: ['LoginInvited', 'LoginCodeRequested', 'LoginCodeTried', 'LoginLinked', 'LoginUnlinked', 'WelcomeDecided'],
  registrations: ['RegistrationAdmitted'],
  seals: ['SealKeyAdopted', 'LogSealed'],
  auditors: ['AuditorKeyCreated', 'AuditorKeyRevoked'],
  reads: ['AuditorRead'],
  periods: ['PeriodCloseRequested', 'PeriodClosed'],
  providers: [
    ...['ProviderDisabled', 'ProviderEnabled', 'BindingDisabled', 'BindingEnabled', 'BindingsOrdered'],
    'ProviderWaitEnded',
  ],
  operator: [
    'OperatorNoticeRaised',
    'OperatorTroubleEnded',
    'OperatorNoticeDelivered',
    'OperatorNoticeAttemptFailed',
    'OperatorNoticeAbandoned',
  ],
}

/**
 * Follows the history of one stream and reports faults. The auditor shares no code with the service, only the rules in
 * `docs/ledger-format.md`, so a mistake would have to be made twice to go unnoticed.
 */
export class Auditor {
  readonly faults: string[] = []
  balanceMicros = 0
  readonly #anyDeletion: boolean
  readonly #stream: string
  readonly #runs = new Map<string, Run>()
  #open = 0
  readonly #requests = new Map<string, number>()
  readonly #activeKeys = new Set<unknown>()
  readonly #testKeys = new Set<unknown>()
  #isSuspended = false
  #isWelcomed = false
  readonly #budgets = new Budgets()
  readonly #notices = new Notices()
  /** The purchases with a right of withdrawal that was not used. */
  readonly #withdrawable = new Set<unknown>()
  /** The last day of use of each key. */
  readonly #usedOn = new Map<unknown, string>()
  readonly #sessions = new Set<unknown>()
  readonly #identities = new Set<unknown>()
  /** The runs with a webhook, and the attempts so far for those with a pending delivery. */
  readonly #receivers = new Set<string>()
  readonly #attempts = new Map<string, number>()
  readonly #webhookCare = new WebhookCare()
  readonly #topUps = new TopUps()
  /** The uploads that are not deleted. */
  readonly #uploads = new Map<string, Upload>()
  readonly #references = new Set<string>()
  /** The revision of the next event, and the link of the one before it. */
  #revision = 0
  #link: string | undefined

  /** With `anyDeletion`, the files of any ended run may be deleted, as by random commands; due work is more careful. */
  constructor(stream: string, { anyDeletion = false } = {}) {
    this.#stream = stream
    this.#anyDeletion = anyDeletion
  }

  /** Follows the events of one append. */
  follow(append: AuditedEvent[]) {
    for (const [index, event] of append.entries()) {
      const before = append[index - 1]
      const after = append[index + 1]
      this.#take(event, {
        before,
        after,
        isBefore: type => after?.type === type && idOf(after) === idOf(event),
        isAfter: type => before?.type === type && idOf(before) === idOf(event),
      })
      this.#revision += 1
    }
    this.#expect(this.#notices.areComplete(), 'a notice is missing in the append of its cause')
  }

  /** Follows the events of one append and checks that they are chained in format 4. */
  followChain(append: AuditedEvent[]) {
    for (const [index, event] of append.entries()) this.#chain(event, this.#revision + index)
    this.follow(append)
  }

  runsIn(...states: Run['state'][]): number {
    return [...this.#runs.values()].filter(({ state }) => states.includes(state)).length
  }

  /** The runs whose webhook is due. */
  get pendingDeliveries(): string[] {
    return [...this.#attempts.keys()]
  }

  /** The deliveries of notices that are due. */
  get pendingNotices(): string[] {
    return this.#notices.pending
  }

  get uploads(): [id: string, state: Upload][] {
    return [...this.#uploads].sort()
  }

  #chain(event: AuditedEvent, revision: number) {
    const { format, hash } = event.metadata as { format?: number; hash: string }
    const { id = '', type, data, stored, metadata } = event
    if (format !== 4) this.#report('the format is not 4', revision)
    else if (makeLink(this.#link, { stream: this.#stream, revision, id, type, data, stored, metadata }).link !== hash)
      this.#report('the chain breaks', revision)
    this.#link = hash
  }

  #take(event: AuditedEvent, neighbours: Neighbours) {
    const [category = ''] = this.#stream.split('-', 1)
    if (category === 'account') this.#takeOfAccount(event, neighbours)
    else this.#expect(TYPES[category]?.includes(event.type) === true, unknown(event))
    if (event.type !== 'WelcomeDecided' || !((event.data as Facts)['welcomeMicros'] as number)) return
    this.#expect(!this.#isWelcomed, 'a mailbox gets its welcome credits twice')
    this.#isWelcomed = true
  }

  #takeOfAccount(event: AuditedEvent, { before, after, isBefore, isAfter }: Neighbours) {
    const data = event.data as Facts
    const runId = String(data['runId'])
    const run = this.#runs.get(runId)
    const { actor } = event.metadata as { actor?: { kind?: string; keyId?: string; sessionId?: string } }
    const isByOwner = actor?.kind === 'key' || actor?.kind === 'session'
    this.#expect(
      !(this.#isSuspended && isByOwner) || event.type === 'SessionClosed',
      'the owner of a suspended account changes it',
    )
    this.#expect(!actor?.keyId || this.#activeKeys.has(actor.keyId), 'a key that is not active changes the account')
    this.#expect(!actor?.sessionId || this.#sessions.has(actor.sessionId), 'a closed session changes the account')
    this.#expect(isAtHome(run, data), 'a test run is not in the sandbox')
    if (run && actor?.keyId)
      this.#expect(this.#testKeys.has(actor.keyId) === (run.isTest === true), 'a key changes a run of the other mode')
    const { at } = event.metadata as { at: string }
    for (const fault of this.#topUps.take(event, { at, clock: timeOf(event) }, this.balanceMicros, this.#isSuspended))
      this.#report(fault)
    switch (event.type) {
      case 'SessionOpened':
        this.#expect(!this.#sessions.has(data['sessionId']), 'a session is opened twice')
        this.#sessions.add(data['sessionId'])
        return this.#expect(this.#sessions.size <= MAX_SESSIONS, 'an account has too many sessions')
      case 'SessionClosed':
        return this.#expect(this.#sessions.delete(data['sessionId']), 'a session that is not open is closed')
      case 'IdentityLinked': {
        const identity = JSON.stringify(data['identity'])
        this.#expect(!this.#identities.has(identity), 'an identity is linked twice')
        this.#identities.add(identity)
        return
      }
      case 'AccountOpened':
        if (data['notices']) this.#notices.set(data['notices'] as Facts)
        return this.#expect(this.#revision === 0, 'an account is opened twice')
      case 'AccountSuspended':
        this.#expect(!this.#isSuspended, 'an account is suspended twice')
        this.#isSuspended = true
        return
      case 'AccountResumed':
        this.#expect(this.#isSuspended, 'an account is resumed that is not suspended')
        this.#isSuspended = false
        return
      case 'LimitsSet':
        return this.#expect(actor?.kind === 'operator', 'nobody but the operator sets limits')
      case 'RetentionSet':
        return this.#expect(actor?.kind === 'operator', 'nobody but the operator sets the retention')
      case 'TesterSet':
        return this.#expect(actor?.kind === 'operator', 'nobody but the operator names testers')
      case 'ApiKeyCreated':
        this.#activeKeys.add(data['keyId'])
        if (data['livemode'] === false) this.#testKeys.add(data['keyId'])
        this.#expect(!this.#testKeys.has(data['keyId']) || !data['budget'], 'a test key has a budget')
        return this.#budgets.create(data)
      case 'ApiKeyRevoked':
        this.#activeKeys.delete(data['keyId'])
        return
      case 'ApiKeyUsed':
        return this.#use(event, data['keyId'])
      case 'BudgetSet':
        return this.#expect(this.#budgets.set(data), 'a budget has not its number')
      case 'BudgetRemoved':
        return this.#expect(this.#budgets.remove(data), 'a budget is removed that is not there')
      case 'CreditsGranted':
        this.#refer(data)
        return this.#move(data, 1)
      case 'CreditsWithdrawn':
        this.#refer(data)
        this.#notices.move(this.balanceMicros, data['balanceAfterMicros'] as number)
        return this.#move(data, -1)
      case 'PurchaseOpened':
        if (data['withdrawalDays'] !== undefined) this.#withdrawable.add(data['purchaseId'])
        return this.#expect(
          (data['withdrawalDays'] === undefined) === (data['beginAtOnce'] === undefined),
          'a purchase that may be withdrawn from begins without the consent',
        )
      case 'CheckoutOpened':
      case 'PurchasePaid':
      case 'FeeCharged':
      case 'PurchaseClosed':
      case 'RefundRequested':
      case 'RefundAccepted':
      case 'PaymentRefunded':
      case 'RefundFailed':
        return
      case 'WithdrawalDeclared': {
        const next = after?.data as Facts | undefined
        const isRefunded = after?.type === 'RefundRequested' && next?.['claimId'] === data['claimId']
        this.#expect(this.#withdrawable.delete(data['purchaseId']), 'a purchase cannot be withdrawn from')
        this.#expect(data['claimId'] === undefined || isRefunded, 'a withdrawal is not in one append with its refund')
        return this.#notices.declare(data, (event.metadata as { at: string }).at)
      }
      case 'PaymentDisputed':
      case 'DisputeWon':
      case 'CreditsOwed':
      case 'CreditsSettled':
      case 'TopUpSet':
      case 'TopUpDue':
      case 'TopUpSettled':
        return
      case 'TopUpRemoved':
        if (data['reason'] === 'failures') this.#notices.stopTopUps((before?.data as Facts | undefined)?.['code'])
        return
      case 'CreditsExpired':
        return this.#move(data, -1)
      case 'LotExtended':
        return this.#expect(actor?.kind === 'operator', 'nobody but the operator puts off the end of credits')
      case 'CreditsDebited': {
        this.#expect(run === undefined, 'a run is debited twice')
        const debit = debitOf(event, this.#budgets)
        this.#expect(this.#budgets.move(debit, data['amountMicros'] as number), 'a budget is passed')
        this.#expect(this.#budgets.isInItsPeriod(debit, timeOf(event)), 'a debit is not in the period of its budget')
        const use = this.#budgets.useOf(debit)
        this.#notices.move(this.balanceMicros, data['balanceAfterMicros'] as number, use)
        this.#expect(isBefore('RunQueued') || isBefore('RunStarted'), 'a debit is not in one append with its run')
        this.#runs.set(runId, {
          state: 'debited',
          chargedMicros: data['amountMicros'] as number,
          refundedMicros: 0,
          debit,
          ...(hasTokens(data['receipt'] as Receipt) && { reserve: data['receipt'] as Receipt }),
        })
        return this.#move(data, -1)
      }
      case 'RunQueued':
      case 'RunStarted': {
        if (data['input'] === undefined) return this.#step(run, ['queued'], 'processing')
        const state = event.type === 'RunQueued' ? 'queued' : 'processing'
        const isTest = data['livemode'] === false
        this.#expect(this.#testKeys.has(actor?.keyId) === isTest, 'a run is not in the mode of its key')
        this.#expect(
          isAfter('CreditsDebited') !== isTest,
          'a live run has no debit in its append, or a test run has one',
        )
        this.#expect(this.#open < MAX_OPEN, 'an account has too many open runs')
        this.#remember(data['idempotency'] as Facts | undefined, event.metadata as Facts, isTest)
        if (data['webhookUrl'] !== undefined) this.#receivers.add(runId)
        if (!isTest) return this.#step(run, ['debited'], state)
        this.#expect(run === undefined, 'a test run is queued twice')
        this.#expect(isAtHome({ isTest }, data), 'a test run starts at a provider')
        this.#open += 1
        this.#runs.set(runId, { state, chargedMicros: 0, refundedMicros: 0, debit: {}, isTest })
        return
      }
      case 'RunSubmitted':
        this.#expect(isTried(data), 'the attempts of a run do not lead to its upstream')
        return this.#step(run, ['processing'], 'processing')
      case 'RunCancelRequested':
        return this.#step(run, ['processing'], 'processing')
      case 'RunCompleted':
        this.#owe(runId)
        this.#expect(isTried(data), 'the attempts of a run do not lead to its upstream')
        if (run?.reserve) this.#expect(isPaid(run, data['usage'] as Facts), 'a run is not charged for its tokens')
        this.#expect(!run?.isTest || data['cost'] === undefined, 'a test run has a cost')
        return this.#step(run, ['processing'], 'completed')
      case 'RunFailed':
        this.#expect(
          isBefore('CreditsRefunded') !== (run?.isTest === true),
          'a failure has not one refund in its append',
        )
        this.#owe(runId)
        this.#expect(isTried(data), 'the attempts of a run do not lead to its upstream')
        this.#expect(
          data['willDeleteAt'] === undefined || run?.state === 'processing',
          'a run that never started may have left files',
        )
        if (run) run.willDeleteAt = data['willDeleteAt']
        return this.#step(run, ['queued', 'processing'], run?.isTest ? 'refunded' : 'failed')
      case 'CreditsRefunded':
        this.#expect(!run?.isTest, 'a test run is refunded')
        this.#expect(this.#repeats(data['debit'] as Facts, run?.debit), 'a refund does not repeat its debit')
        this.#budgets.move(run?.debit ?? {}, -(data['amountMicros'] as number))
        if (run?.state === 'completed') return this.#refundCompleted(run, data)
        this.#expect(isAfter('RunFailed'), 'a refund is not in one append with its failure')
        this.#expect(run?.chargedMicros === data['amountMicros'], 'a refund is not what was charged')
        this.#step(run, ['failed'], 'refunded')
        return this.#move(data, 1)
      case 'CreditsReleased': {
        const receipt = data['receipt'] as Receipt
        this.#expect(isBefore('RunCompleted'), 'a release is not in one append with the end of its run')
        this.#expect(run?.reserve !== undefined, 'a run is settled whose tokens have no price')
        this.#expect(this.#repeats(data['debit'] as Facts, run?.debit), 'a release does not repeat its debit')
        this.#expect(receipt.totalMicros === priceOf(receipt.lines), 'a final price does not add up')
        const restMicros = (run?.chargedMicros ?? 0) - receipt.totalMicros
        this.#expect(data['amountMicros'] === restMicros, 'a release is not what the run did not cost')
        this.#budgets.move(run?.debit ?? {}, -(data['amountMicros'] as number))
        if (run) Object.assign(run, { settled: receipt, chargedMicros: receipt.totalMicros })
        return this.#move(data, 1)
      }
      case 'ProviderCostRecorded':
        this.#expect(!run?.isTest, 'a test run has a cost')
        return this.#expect(isAfter('CreditsRefunded'), 'a cost is not in one append with the failure of its run')
      case 'WebhookRedeliveryRequested':
        this.#expect(!this.#attempts.has(runId), 'a redelivery is requested while a delivery is pending')
        this.#expect(
          this.#receivers.has(runId) && run !== undefined && hasEnded(run.state),
          'a redelivery is requested for a run that has not ended, or has no webhook',
        )
        this.#attempts.set(runId, 0)
        return this.#care(event, isByOwner)
      case 'WebhookSecretRotated':
      case 'WebhookTestRequested':
      case 'WebhookTested':
        return this.#care(event, isByOwner)
      case 'WebhookDelivered':
        this.#attempt(runId, data)
        this.#attempts.delete(runId)
        return
      case 'WebhookAttemptFailed':
        this.#expect(
          isBefore('WebhookAbandoned') === (data['nextAttemptAt'] === undefined),
          'a webhook is not abandoned exactly at its last attempt',
        )
        return this.#attempt(runId, data)
      case 'WebhookAbandoned':
        this.#expect(isAfter('WebhookAttemptFailed'), 'a webhook is abandoned without an attempt')
        this.#attempts.delete(runId)
        return
      case 'NoticesSet':
        return this.#notices.set(data)
      case 'NoticeRaised':
        return this.#expect(this.#notices.take(data), 'a notice is not the next that is called for')
      case 'NoticeDelivered':
        return this.#expect(this.#notices.attempt(data, true), 'a delivery of a notice is not due')
      case 'NoticeAttemptFailed':
        this.#expect(
          (after?.type === 'NoticeAbandoned') === (data['nextAttemptAt'] === undefined),
          'a notice is not abandoned exactly at its last attempt',
        )
        return this.#expect(this.#notices.attempt(data, false), 'an attempt to deliver a notice is not due')
      case 'NoticeAbandoned':
        return this.#expect(before?.type === 'NoticeAttemptFailed', 'a notice is abandoned without an attempt')
      case 'RunOutputDeleted':
        return this.#expect(
          run === undefined ||
            run.state === 'completed' ||
            (run.state === 'refunded' && (this.#anyDeletion || run.willDeleteAt !== undefined)),
          'the output of a run is deleted that is open or left nothing',
        )
      case 'RunsArchived':
        return this.#expect(
          (data['runs'] as { runId: string }[]).every(({ runId }) => {
            const { state } = this.#runs.get(runId) ?? {}
            return state !== undefined && hasEnded(state) && !this.#attempts.has(runId)
          }),
          'a run leaves the lists that has not ended, or is owed a webhook',
        )
      case 'UploadGranted':
        this.#expect(this.#uploads.size < MAX_UPLOADS, 'an account has too many uploads')
        return this.#stepUpload(data, [undefined], 'granted')
      case 'UploadStored':
        return data['sealed']
          ? this.#stepUpload(data, ['granted', 'stored'], 'sealed')
          : this.#stepUpload(data, ['granted'], 'stored')
      case 'UploadDeletionRequested':
        return this.#stepUpload(data, ['granted', 'stored', 'sealed'], 'deleting')
      case 'UploadDeleted':
        return this.#stepUpload(data, ['granted', 'stored', 'sealed', 'deleting'], undefined)
      default:
        return this.#report(unknown(event))
    }
  }

  /** The refund of a revoked key may name no period, since its budget is gone. */
  #repeats(facts: Facts | undefined, debit: Facts | undefined): boolean {
    const { budgetPeriod: _, ...others } = debit ?? {}
    return (
      isDeepStrictEqual(facts, debit) || (!this.#activeKeys.has(debit?.['keyId']) && isDeepStrictEqual(facts, others))
    )
  }

  #use(event: AuditedEvent, keyId: unknown) {
    const day = timeOf(event).slice(0, 10)
    this.#expect(this.#usedOn.get(keyId) !== day, 'the use of a key is recorded twice on a day')
    this.#usedOn.set(keyId, day)
  }

  #refundCompleted(run: Run, data: Facts) {
    run.refundedMicros += data['amountMicros'] as number
    this.#expect(run.refundedMicros <= run.chargedMicros, 'more is refunded than was charged')
    this.#move(data, 1)
  }

  #care(event: AuditedEvent, isByOwner: boolean) {
    const { type, data } = event
    for (const fault of this.#webhookCare.take(type, data as Facts, Date.parse(timeOf(event)), isByOwner))
      this.#report(fault)
  }

  #owe(runId: string) {
    if (this.#receivers.has(runId)) this.#attempts.set(runId, 0)
  }

  #attempt(runId: string, data: Facts) {
    const before = this.#attempts.get(runId)
    this.#expect(before !== undefined && data['attempt'] === before + 1, 'an attempt is not the next one')
    this.#attempts.set(runId, Number(data['attempt']))
  }

  #move(data: Facts, sign: 1 | -1) {
    this.balanceMicros += sign * (data['amountMicros'] as number)
    this.#expect(this.balanceMicros === data['balanceAfterMicros'], 'the balance is not the sum of the events')
    this.#expect(this.balanceMicros >= 0, 'the balance is negative')
  }

  #step(run: Run | undefined, from: Run['state'][], to: Run['state']) {
    this.#expect(run !== undefined && from.includes(run.state), `a run that is ${run?.state} becomes ${to}`)
    if (!run) return
    this.#open += Number(isOpen(to)) - Number(isOpen(run.state))
    run.state = to
  }

  #stepUpload(data: Facts, from: (Upload | undefined)[], to: Upload | undefined) {
    const id = String(data['uploadId'])
    const state = this.#uploads.get(id)
    this.#expect(from.includes(state), `an upload that is ${state} becomes ${to}`)
    if (to) this.#uploads.set(id, to)
    else this.#uploads.delete(id)
  }

  #remember(idempotency: Facts | undefined, metadata: Facts, isTest: boolean) {
    if (!idempotency) return
    const key = `${isTest} ${idempotency['key']}`
    const atMs = Date.parse(String(metadata['at']))
    const beforeMs = this.#requests.get(key) ?? Number.NEGATIVE_INFINITY
    this.#expect(atMs - beforeMs >= DAY_MS, 'an idempotency key is charged twice within a day')
    this.#requests.set(key, atMs)
  }

  #refer({ reference }: Facts) {
    this.#expect(!this.#references.has(String(reference)), 'a reference moves credits twice')
    this.#references.add(String(reference))
  }

  #expect(holds: boolean, fault: string) {
    if (!holds) this.#report(fault)
  }

  #report(fault: string, revision = this.#revision) {
    this.faults.push(`${this.#stream} at ${revision}: ${fault}`)
  }
}

/** Whether a completed run is charged for the tokens that it used, or for the most that it could use. */
const isPaid = ({ reserve, settled, chargedMicros }: Run, usage: Facts | undefined): boolean => {
  if (!reserve || !usage) return false
  const lines = usedLines(reserve, usage)
  if (!settled) return priceOf(lines) >= chargedMicros
  return isDeepStrictEqual(settled.lines, lines) && settled.counted === usage['counted']
}

/** Whether the upstream of an event, if it names one, may work on the run. */
const isAtHome = (run: Pick<Run, 'isTest'> | undefined, { upstream }: Facts): boolean =>
  !run?.isTest || upstream === undefined || (upstream as Facts)['provider'] === 'sandbox'

/** Whether each attempt but the last failed, and the last is at the upstream of the event. */
const isTried = ({ attempts, upstream }: Facts): boolean => {
  if (attempts === undefined) return true
  const [last, ...others] = (attempts as Facts[]).toReversed()
  const isThere = (name: string) => last?.[name] === (upstream as Facts | undefined)?.[name]
  return ['provider', 'model', 'account'].every(isThere) && others.every(({ failedAt }) => failedAt !== undefined)
}

const isOpen = (state: Run['state']): boolean => state === 'queued' || state === 'processing'

const hasEnded = (state: Run['state']): boolean => state === 'completed' || state === 'refunded'

/** The time that periods and durations count from. */
const timeOf = ({ metadata }: AuditedEvent): string => {
  const { at, clock = at } = metadata as { at: string; clock?: string }
  return clock
}

const idOf = ({ data }: AuditedEvent) => (data as Facts)['runId']

const unknown = ({ type }: AuditedEvent) => `the event type ${type} is unknown`

/** The facts of a debit that its refunds repeat. */
const debitOf = (event: AuditedEvent, budgets: Budgets): Facts => {
  const { receipt, label, budget } = event.data as { receipt: Facts; label?: string; budget?: Facts }
  const { actor } = event.metadata as { actor?: Facts }
  const keyId = actor?.['keyId']
  const budgetPeriod = budgets.periodOf(keyId, timeOf(event))
  const facts = { model: receipt['model'], endpoint: receipt['endpoint'], keyId, label, budgetPeriod, budget }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
}
