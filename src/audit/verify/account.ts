import type { AuditedEvent, Report, Rule } from '../fault.ts'

/** An account's stream begins with its opening, and is named after it. */
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

/** An account is suspended and resumed in turns, and meanwhile its owner changes nothing but signs out. */
export class Suspension implements Rule {
  #isSuspended = false

  take({ type, metadata }: AuditedEvent, report: Report) {
    const { kind } = metadata.actor as { kind: string }
    if (this.#isSuspended && OWNERS.includes(kind) && type !== 'SessionClosed')
      report('the owner of the account caused it during its suspension')
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

/** The actors that act for the account's owner. */
const OWNERS = ['key', 'session']

/** Only operators set the limits of an account. */
export class Limits implements Rule {
  take({ type, metadata }: AuditedEvent, report: Report) {
    if (type !== 'LimitsSet') return
    const { kind } = metadata.actor as { kind: string }
    if (kind !== 'operator') report(`it was caused by a ${kind}, and only operators set limits`)
  }
}

/** Every amount moves the balance as the event says, the balance is never negative, and no reference is used twice. */
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
    // The balance that was written continues, so that a fault is reported once.
    this.#balanceMicros = Number(balanceAfterMicros)
    if (reference === undefined) return
    if (this.#references.has(reference)) report(`its reference ${JSON.stringify(reference)} was used before`)
    this.#references.add(reference)
  }
}

/** By type of event, whether it adds credits to an account or takes them from it. */
const SIGNS: Readonly<Record<string, 1 | -1>> = {
  CreditsGranted: 1,
  CreditsWithdrawn: -1,
  CreditsDebited: -1,
  CreditsRefunded: 1,
}

/** Whether events of a type change a balance. */
export const movesCredits = (type: string): boolean => Object.hasOwn(SIGNS, type)

/** Uploads go from granted to stored to sealed, and are deleted once. */
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
