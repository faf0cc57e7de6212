import type { AuditedEvent, Report, Rule } from '../fault.ts'

/** An account's stream starts with its opening, and has its name. */
export class Opening implements Rule {
  readonly #accountId: string
  #isOpen = false

  constructor(stream: string) {
    this.#accountId = stream.slice(stream.indexOf('-') + 1)
  }

  take({ type, data }: AuditedEvent, report: Report) {
    if (type === 'AccountOpened') {
      if (this.#isOpen) report('the account was opened before')
      if (data['accountId'] !== this.#accountId)
        report(`it opens ${data['accountId']} in the stream of another account`)
    } else if (!this.#isOpen) report('the account was not opened')
    this.#isOpen = true
  }
}

/** Suspensions and resumptions alternate. In between, the owner changes nothing except by signing out. */
export class Suspension implements Rule {
  #isSuspended = false

  take({ type, metadata }: AuditedEvent, report: Report) {
    const { kind } = metadata.actor as { kind: string }
    if (this.#isSuspended && OWNERS.includes(kind) && type !== 'SessionClosed')
      report('the owner of the account caused it during its suspension')
    if (type === 'AccountErased') this.#isSuspended = true
    if (type === 'AccountSuspended') {
      if (this.#isSuspended) report('the account was suspended before')
      this.#isSuspended = true
    }
    if (type === 'AccountResumed') {
      if (!this.#isSuspended) report('the account was not suspended')
      this.#isSuspended = false
    }
  }
}

/** An erased account only ends what is left of it. Its erasure is completed at most once. */
export class Erasure implements Rule {
  #state: 'none' | 'begun' | 'completed' = 'none'

  take({ type }: AuditedEvent, report: Report) {
    if (type === 'ErasureCompleted') {
      if (this.#state !== 'begun') report('no erasure of the account has begun, or it was completed before')
      this.#state = 'completed'
    } else if (this.#state !== 'none' && !AFTER_ERASURE.has(type)) report('the account was erased before')
    if (type === 'AccountErased') this.#state = 'begun'
  }
}

/** The events that end the sessions, deliveries, files and rows of an erased account, and those of its payments. */
const AFTER_ERASURE = new Set([
  ...['SessionClosed', 'WebhookDelivered', 'WebhookAttemptFailed', 'WebhookAbandoned', 'WebhookTested'],
  ...['NoticeDelivered', 'NoticeAttemptFailed', 'NoticeAbandoned', 'UploadDeleted', 'RunOutputDeleted'],
  ...['CreditsExpired', 'CreditsGranted', 'CreditsWithdrawn', 'CreditsOwed', 'CreditsSettled'],
  ...['PurchasePaid', 'FeeCharged', 'PurchaseClosed', 'PaymentDisputed', 'DisputeWon'],
  ...['RefundRequested', 'RefundAccepted', 'PaymentRefunded', 'RefundFailed'],
  ...['TopUpSettled', 'RunsArchived'],
])

/** Actors that act for the owner of an account. */
const OWNERS = ['key', 'session']

/** Only operators set the limits of an account, and make it a tester. */
export class OperatorOnly implements Rule {
  take({ type, metadata }: AuditedEvent, report: Report) {
    if (type !== 'LimitsSet' && type !== 'TesterSet' && type !== 'RetentionSet' && type !== 'LotExtended') return
    const { kind } = metadata.actor as { kind: string }
    if (kind !== 'operator') report(`it was caused by a ${kind}, but only operators do this`)
  }
}

/** Every amount changes the balance as recorded, the balance is never negative, and every reference is used once. */
export class Money implements Rule {
  #balanceMicros = 0
  readonly #references = new Set<unknown>()

  take({ type, data }: AuditedEvent, report: Report) {
    const sign = SIGNS[type]
    if (sign === undefined) return
    const { amountMicros, balanceAfterMicros, reference } = data
    const before = this.#balanceMicros
    const balanceMicros = before + sign * Number(amountMicros)
    if (balanceMicros !== balanceAfterMicros)
      report(`its balance is ${balanceAfterMicros}, and ${before} ${sign < 0 ? '−' : '+'} ${amountMicros} is not`)
    if (balanceMicros < 0) report(`the balance falls to ${balanceMicros}`)
    // Continues with the recorded balance, so that a fault is reported once.
    this.#balanceMicros = Number(balanceAfterMicros)
    if (reference === undefined) return
    if (this.#references.has(reference)) report(`its reference ${JSON.stringify(reference)} was used before`)
    this.#references.add(reference)
  }
}

/** For each type of event, whether it adds credits to an account or takes them away. */
const SIGNS: Readonly<Record<string, 1 | -1>> = {
  CreditsGranted: 1,
  CreditsWithdrawn: -1,
  CreditsDebited: -1,
  CreditsRefunded: 1,
  CreditsReleased: 1,
  CreditsExpired: -1,
}

/** Whether events of a type change a balance. */
export const movesCredits = (type: string): boolean => Object.hasOwn(SIGNS, type)

/** An upload is granted, stored and sealed, in this order, and deleted once. */
export class Uploads implements Rule {
  readonly #states = new Map<unknown, State>()

  take({ type, data }: AuditedEvent, report: Report) {
    const step = type === 'UploadStored' ? storedStep(data['sealed'] === true) : STEPS[type]
    if (!step) return
    const { uploadId } = data
    const state = this.#states.get(uploadId)
    if (!step.from.includes(state)) report(`an upload that is ${state ?? 'unknown'} cannot become ${step.to}`)
    this.#states.set(uploadId, step.to)
  }
}

type State = 'granted' | 'stored' | 'sealed' | 'deleting' | 'deleted'

const STEPS: Readonly<Record<string, { from: readonly (State | undefined)[]; to: State }>> = {
  UploadGranted: { from: [undefined], to: 'granted' },
  UploadDeletionRequested: { from: ['granted', 'stored', 'sealed'], to: 'deleting' },
  UploadDeleted: { from: ['granted', 'stored', 'sealed', 'deleting'], to: 'deleted' },
}

const storedStep = (isSealed: boolean): { from: State[]; to: State } =>
  isSealed ? { from: ['granted', 'stored'], to: 'sealed' } : { from: ['granted'], to: 'stored' }
