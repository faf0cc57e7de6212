import { isAcceptance } from '../../../schemas/account-events.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { type AuditedEvent, type Report, type Rule, runIdOf } from '../fault.ts'

/** Only active keys of the account change the account. A key is created once, and revoked once under its hash. */
export class Keys implements Rule {
  /** The hash of each active key; undefined once the key is revoked. */
  readonly #hashes = new Map<unknown, unknown>()

  take({ type, data, metadata }: AuditedEvent, report: Report) {
    const { keyId: actorKeyId } = metadata.actor as { keyId?: string }
    if (actorKeyId !== undefined && this.#hashes.get(actorKeyId) === undefined)
      report(`${actorKeyId} is not an active key of this account`)
    const { keyId, hash } = data
    if (type === 'ApiKeyCreated') {
      if (this.#hashes.has(keyId)) report(`${keyId} was created before`)
      this.#hashes.set(keyId, hash)
    }
    if (type !== 'ApiKeyUsed' && type !== 'ApiKeyRevoked') return
    if (this.#hashes.get(keyId) !== hash) report(`${keyId} is not an active key with this hash`)
    if (type === 'ApiKeyRevoked') this.#hashes.set(keyId, undefined)
  }
}

/**
 * A key debits within its budget, before it expires, and only for its models. Refunds and releases go back to the
 * period of their debit. The use of a key is recorded at most once a day in a row.
 */
export class KeyLimits implements Rule {
  readonly #keys = new Map<unknown, Limits>()
  readonly #budgets = new BudgetUses()

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    if (type === 'ApiKeyCreated') this.#keys.set(data['keyId'], { ...(data as Limits) })
    const key = this.#keys.get(data['keyId'])
    if (key && type === 'ApiKeyUsed') takeUse(event, key, report)
    const use = this.#budgets.take(event)
    const isTest = isAcceptance(event) && event.data.livemode === false
    if (type === 'CreditsDebited' || isTest) this.#checkUse(event, report)
    if (GIVING_BACK.has(type)) this.#takeReturn(event, report)
    if (!use) return
    const { keyId, firstDay, spentMicros, budget } = use
    if (spentMicros > budget.amountMicros) {
      const of = `its budget of ${budget.amountMicros} for the ${budget.period} from ${firstDay}`
      report(`${keyId} has spent ${spentMicros} of ${of}`)
    }
  }

  /** Checks the key of a debit or a test run. */
  #checkUse(event: AuditedEvent, report: Report) {
    const { keyId } = event.metadata.actor as { keyId?: string }
    const { expiresAt, models } = this.#keys.get(keyId) ?? {}
    const { receipt } = event.data as { receipt?: { model: string; endpoint: string } }
    if (expiresAt !== undefined && clockOf(event) >= expiresAt) report(`${keyId} has expired at ${expiresAt}`)
    if (receipt && models && !models.includes(receipt.model) && !models.includes(receipt.endpoint))
      report(`${keyId} may not run ${receipt.endpoint}`)
  }

  #takeReturn(event: AuditedEvent, report: Report) {
    const { debit } = event.data as { debit?: { budgetPeriod?: string } }
    const { firstDay, isRevoked = false } = this.#budgets.debitOf(runIdOf(event))
    const named = debit?.budgetPeriod
    // A revoked key has no budget any more.
    if (debit && named !== firstDay && !(isRevoked && named === undefined))
      report(`it gives back to the budget of ${named ?? 'no period'}, and its debit was in ${firstDay ?? 'none'}`)
  }
}

interface Limits {
  expiresAt?: string
  models?: string[]
  usedOn?: string
}

const takeUse = (event: AuditedEvent, key: Limits, report: Report) => {
  const day = clockOf(event).slice(0, 'yyyy-mm-dd'.length)
  if (key.usedOn === day) report(`the use of ${event.data['keyId']} on ${day} is recorded twice`)
  key.usedOn = day
}

/**
 * A key makes and changes only objects of its mode. A test key has no budget and neither creates nor revokes a live
 * key. A session works in both modes. The sandbox does test runs, which cost nothing.
 */
export class Modes implements Rule {
  readonly #keys = new Map<unknown, Mode>()
  /** The runs and uploads in test mode. */
  readonly #tests = new Set<unknown>()

  take(event: AuditedEvent, report: Report) {
    const { type, data, metadata } = event
    const { keyId: actorKeyId, sessionId } = metadata.actor as { keyId?: string; sessionId?: string }
    const actorMode = this.#keys.get(actorKeyId)
    if (type === 'ApiKeyCreated') {
      const mode = modeOf(data)
      this.#keys.set(data['keyId'], mode)
      if (mode === 'test' && data['budget'] !== undefined) report('a test key has a budget')
      if (mode === 'live' && actorMode === 'test') report('a test key creates a live key')
      return
    }
    if (type === 'ApiKeyRevoked' && actorMode === 'test' && this.#keys.get(data['keyId']) === 'live')
      report('a test key revokes a live key')
    const id = data['runId'] ?? data['uploadId']
    if (id === undefined) return
    if ((isAcceptance(event) || type === 'UploadGranted') && modeOf(data) === 'test') {
      this.#tests.add(id)
      if (actorMode === undefined && sessionId === undefined)
        report('it is in test mode, but neither a key nor a session requested it')
    }
    const mode = this.#tests.has(id) ? 'test' : 'live'
    if (actorMode !== undefined && actorMode !== mode)
      report(`${actorKeyId} is a ${actorMode} key, and ${id} is ${mode}`)
    if (mode === 'test') checkCost(type, data, report)
  }
}

const SANDBOX = 'sandbox'

type Mode = 'live' | 'test'

const modeOf = ({ livemode }: AuditedEvent['data']): Mode => (livemode === false ? 'test' : 'live')

const checkCost = (type: string, { upstream, cost }: AuditedEvent['data'], report: Report) => {
  if (type === 'ProviderCostRecorded' || cost !== undefined) report('a test run has a cost')
  const { provider = SANDBOX } = (upstream ?? {}) as { provider?: string }
  if (provider !== SANDBOX) report(`a test run went to ${provider}, not to the sandbox`)
}

/** The events that give back a part of a debit. */
const GIVING_BACK = new Set(['CreditsRefunded', 'CreditsReleased'])

/** The budgets of an account's keys. Refunds and releases go back to the period of their debit. */
export class BudgetUses {
  readonly #keys = new Map<unknown, Spender>()
  /** For each debited run, the key with a budget and the first day of the period. */
  readonly #debits = new Map<string, { key: Spender; firstDay: string }>()

  /** Takes the next event of the stream. For a debit of a key with a budget, returns the use of the budget. */
  take(event: AuditedEvent): BudgetUse | undefined {
    const { type, data } = event
    if (type === 'ApiKeyCreated')
      this.#keys.set(data['keyId'], { ...(data as Partial<Spender>), isRevoked: false, spentMicros: new Map() })
    const key = this.#keys.get(data['keyId'])
    if (key && type === 'ApiKeyRevoked') key.isRevoked = true
    if (GIVING_BACK.has(type)) this.#giveBack(event)
    return type === 'CreditsDebited' ? this.#spend(event) : undefined
  }

  /** The first day of the period in which a run was debited, and whether its key was revoked since. */
  debitOf(runId: string): { firstDay?: string; isRevoked?: boolean } {
    const { key, firstDay } = this.#debits.get(runId) ?? {}
    return { ...(firstDay !== undefined && { firstDay }), ...(key && { isRevoked: key.isRevoked }) }
  }

  #spend(event: AuditedEvent): BudgetUse | undefined {
    const { keyId = '' } = event.metadata.actor as { keyId?: string }
    const key = this.#keys.get(keyId)
    if (!key?.budget) return undefined
    const { budget } = key
    const firstDay = firstDayOf(budget.period, clockOf(event))
    const spentMicros = (key.spentMicros.get(firstDay) ?? 0) + Number(event.data['amountMicros'])
    key.spentMicros.set(firstDay, spentMicros)
    this.#debits.set(runIdOf(event), { key, firstDay })
    return { keyId, budget, firstDay, spentMicros }
  }

  #giveBack(event: AuditedEvent) {
    const { key, firstDay } = this.#debits.get(runIdOf(event)) ?? {}
    if (!key || firstDay === undefined) return
    key.spentMicros.set(firstDay, (key.spentMicros.get(firstDay) ?? 0) - Number(event.data['amountMicros']))
  }
}

export interface Budget {
  amountMicros: number
  period: 'day' | 'week' | 'month'
}

interface Spender {
  budget?: Budget
  isRevoked: boolean
  /** The spending in each period, by first day. */
  spentMicros: Map<string, number>
}

/** The used part of a key's budget in a period. */
export interface BudgetUse {
  keyId: string
  budget: Budget
  firstDay: string
  spentMicros: number
}

const DAY_MS = 24 * 60 * 60 * 1000

/** 1970-01-01 was the fourth day of a week. */
const DAYS_BEFORE_1970 = 3

/** The first day of the period that contains a time. */
export const firstDayOf = (period: Budget['period'], time: string): string => {
  if (period === 'month') return `${time.slice(0, 'yyyy-mm'.length)}-01`
  const day = time.slice(0, 'yyyy-mm-dd'.length)
  if (period === 'day') return day
  const days = Date.parse(day) / DAY_MS
  return new Date((days - ((days + DAYS_BEFORE_1970) % 7)) * DAY_MS).toISOString().slice(0, day.length)
}
