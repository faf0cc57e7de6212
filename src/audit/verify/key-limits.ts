import { clockOf } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'
import { BudgetUses } from './budget-uses.ts'
import { type AuditedEvent, type Rule, runIdOf } from './rule.ts'

interface Key {
  expiresAt?: string
  models?: string[]
  usedOn?: string
}

/**
 * A key debits within its budget and before it expires, and only for the models that it is restricted to. A refund
 * gives back to the period of its debit. A use is not recorded twice in a row for one day.
 */
export class KeyLimits implements Rule {
  readonly #keys = new Map<unknown, Key>()
  readonly #budgets = new BudgetUses()

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    if (type === 'ApiKeyCreated') this.#keys.set(data['keyId'], { ...(data as Key) })
    const key = this.#keys.get(data['keyId'])
    if (key && type === 'ApiKeyUsed') takeUse(event, key, report)
    const use = this.#budgets.take(event)
    if (type === 'CreditsDebited' || (type === 'RunQueued' && data['livemode'] === false)) this.#checkUse(event, report)
    if (type === 'CreditsRefunded') this.#takeRefund(event, report)
    if (!use) return
    const { keyId, firstDay, spentMicros, budget } = use
    if (spentMicros > budget.amountMicros) {
      const of = `its budget of ${budget.amountMicros} for the ${budget.period} from ${firstDay}`
      report(`${keyId} has spent ${spentMicros} of ${of}`)
    }
  }

  /** The key of a debit or a test run, if one asked for it. */
  #checkUse(event: AuditedEvent, report: Report) {
    const { keyId } = event.metadata.actor as { keyId?: string }
    const { expiresAt, models } = this.#keys.get(keyId) ?? {}
    const { receipt } = event.data as { receipt?: { model: string; endpoint: string } }
    if (expiresAt !== undefined && clockOf(event) >= expiresAt) report(`${keyId} has expired at ${expiresAt}`)
    if (receipt && models && !models.includes(receipt.model) && !models.includes(receipt.endpoint))
      report(`${keyId} may not run ${receipt.endpoint}`)
  }

  #takeRefund(event: AuditedEvent, report: Report) {
    const { debit } = event.data as { debit?: { budgetPeriod?: string } }
    const { firstDay, isRevoked = false } = this.#budgets.debitOf(runIdOf(event))
    const named = debit?.budgetPeriod
    // The budget of a revoked key is gone.
    if (debit && named !== firstDay && !(isRevoked && named === undefined))
      report(`it gives back to the budget of ${named ?? 'no period'}, and its debit was in ${firstDay ?? 'none'}`)
  }
}

const takeUse = (event: AuditedEvent, key: Key, report: Report) => {
  const day = clockOf(event).slice(0, 'yyyy-mm-dd'.length)
  if (key.usedOn === day) report(`the use of ${event.data['keyId']} on ${day} is recorded twice`)
  key.usedOn = day
}
