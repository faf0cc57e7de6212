import { isDeepStrictEqual } from 'node:util'

type Facts = Record<string, unknown>

/** The use of a key's budget after a debit. */
export interface Use {
  keyId: unknown
  budgetPeriod: string
  spentMicros: number
  budgetMicros: number
}

/** The notices of an account, by the rules in `docs/ledger-format.md`. */
export class Notices {
  #settings: Facts = {}
  #count = 0
  /** The kinds that the append must still hold, with the facts that tell one from another. */
  #expected: Facts[] = []
  /** The receipt that the append must still hold. */
  #receipt: Facts | undefined
  /** The shares of budgets that were told, as `<key>/<period>/<share>`. */
  readonly #told = new Set<string>()
  readonly #endsTold = new Set<unknown>()
  readonly #attempts = new Map<string, number>()

  set(settings: Facts) {
    this.#settings = settings
  }

  /** A debit or withdrawal, with the balances before and after it. */
  move(beforeMicros: number, balanceMicros: number, use?: Use) {
    if (!this.#settings['email'] && this.#settings['url'] === undefined) return
    const underMicros = Number(this.#settings['balanceUnderMicros'])
    if (balanceMicros < underMicros && beforeMicros >= underMicros)
      this.#expected.push({ kind: 'balance_low', balanceMicros, underMicros })
    if (!use) return
    const { keyId, budgetPeriod, spentMicros, budgetMicros } = use
    const isOver = (percent: number) => BigInt(spentMicros) * 100n >= BigInt(budgetMicros) * BigInt(percent)
    const reached = [100, 80].find(isOver)
    const name = (share: number) => `${keyId}/${budgetPeriod}/${share}`
    if (!reached || this.#told.has(name(reached)) || this.#told.has(name(100))) return
    this.#told.add(name(reached))
    this.#expected.push({ kind: reached === 100 ? 'budget_exhausted' : 'budget_warning', ...use })
  }

  /** A withdrawal from a purchase, whose receipt ends the append. */
  declare({ purchaseId, amount, currency }: Facts, declaredAt: string) {
    this.#receipt = { purchaseId, declaredAt, refund: { amount, currency } }
  }

  /** The end of top-ups that have failed, the last one with this code. */
  stopTopUps(code: unknown) {
    this.#expected.push({ kind: 'top_up_stopped', code })
  }

  /** Whether a notice is the next one that is called for. */
  take({ number, notice, to }: Facts): boolean {
    this.#count += 1
    for (const channel of Object.keys(to as Facts)) this.#attempts.set(`${number}/${channel}`, 0)
    if (number !== this.#count) return false
    const { kind, keyId, renewsAt: _, ...facts } = notice as Facts
    const { model, retiresAt, days, lot, expiresAt } = facts
    if (kind === 'withdrawal_received') {
      const { purchaseId, declaredAt, refund } = facts
      const isReceipt = isDeepStrictEqual({ purchaseId, declaredAt, refund }, this.#receipt)
      this.#receipt = undefined
      return isReceipt
    }
    if (kind === 'credits_expiring') return this.#isNew(`lot ${lot} ${expiresAt} ${days}`)
    if (kind === 'model_retiring') return this.#isNew(`${model} ${retiresAt} ${days}`)
    if (kind !== 'key_expiring')
      return isDeepStrictEqual({ kind, ...(keyId !== undefined && { keyId }), ...facts }, this.#expected.shift())
    return this.#isNew(keyId)
  }

  /** Whether the owner is told of a key, or of a step of a model's retirement, for the first time. */
  #isNew(name: unknown): boolean {
    const isNew = !this.#endsTold.has(name)
    this.#endsTold.add(name)
    return isNew
  }

  /** Whether an attempt is the next one of a delivery that is not over. */
  attempt({ number, channel, attempt, nextAttemptAt }: Facts, isDelivered: boolean): boolean {
    const delivery = `${number}/${channel}`
    const before = this.#attempts.get(delivery)
    if (isDelivered || nextAttemptAt === undefined) this.#attempts.delete(delivery)
    else this.#attempts.set(delivery, Number(attempt))
    return before !== undefined && attempt === before + 1
  }

  /** The deliveries that are not over. */
  get pending(): string[] {
    return [...this.#attempts.keys()]
  }

  /** Whether the append held all notices that it called for. */
  areComplete(): boolean {
    const isComplete = this.#expected.length === 0 && this.#receipt === undefined
    this.#expected = []
    this.#receipt = undefined
    return isComplete
  }
}
