type Facts = Record<string, unknown>

/** `clock` is the time that periods count from. */
interface Times {
  at: string
  clock: string
}

/** The top-ups of an account, by the rules in `docs/ledger-format.md`. */
export class TopUps {
  #settings: Facts | undefined
  #dueAt: string | undefined
  #purchaseId: unknown
  #failures = 0
  #last = ''
  #owedMicros = 0
  readonly #keeping = new Set<unknown>()
  readonly #topUps = new Set<unknown>()
  readonly #states = new Map<unknown, 'open' | 'paid' | 'closed'>()
  /** What top-ups have paid, by month and currency. */
  readonly #paid = new Map<string, bigint>()

  /** The faults of an event, after which the account has this balance. */
  take(
    { type, data: facts }: { type: string; data: unknown },
    { at, clock }: Times,
    balanceMicros: number,
    isSuspended: boolean,
  ): string[] {
    const data = facts as Facts
    const last = this.#last
    this.#last = `${type} ${data['outcome']}`
    const { purchaseId } = data
    const isNeeded = balanceMicros < Number(this.#settings?.['underMicros'] ?? 0) && !isSuspended && !this.#owedMicros
    const isOpen = this.#purchaseId !== undefined
    const faults: string[] = []
    const expect = (holds: boolean, fault: string) => void (holds || faults.push(fault))
    if (data['owedAfterMicros'] !== undefined) this.#owedMicros = Number(data['owedAfterMicros'])
    if (type === 'PurchaseOpened') {
      this.#states.set(purchaseId, 'open')
      if (data['keepsMethod']) this.#keeping.add(purchaseId)
      if (data['methodOf'] === undefined) return faults
      const { methodOf } = data
      this.#topUps.add(purchaseId)
      const isKept = this.#keeping.has(methodOf) && this.#states.get(methodOf) === 'paid'
      expect(isKept, 'a top-up uses a payment method that was not kept')
      expect(!isOpen, 'two top-ups are under way')
      expect(this.#dueAt !== undefined && this.#dueAt <= clock, 'a top-up is bought that is not due')
      expect(isNeeded, 'a top-up is bought that is not needed')
      const { monthlyAmount = '0', currency } = this.#settings ?? {}
      const paid = [...this.#paid].reduce(
        (sum, [time, amount]) => (time.endsWith(` ${currency}`) && time >= clock.slice(0, 7) ? sum + amount : sum),
        0n,
      )
      const isWithin = data['currency'] === currency && paid + minorOf(data) <= minorOf({ amount: monthlyAmount })
      expect(isWithin, 'a top-up exceeds the monthly amount')
      this.#purchaseId = purchaseId
    }
    if (type === 'PurchaseClosed' && this.#states.get(purchaseId) === 'open') this.#states.set(purchaseId, 'closed')
    if (type === 'PurchasePaid') {
      this.#states.set(purchaseId, 'paid')
      const month = `${at.slice(0, 7)} ${data['currency']}`
      if (this.#topUps.has(purchaseId)) this.#paid.set(month, (this.#paid.get(month) ?? 0n) + minorOf(data))
    }
    if (type === 'TopUpDue') {
      expect(!isOpen, 'two top-ups are under way')
      expect(this.#settings !== undefined && this.#failures < 3, 'a top-up is due where none is set')
      expect(isNeeded || last === 'TopUpSettled failed', 'a top-up is due that is not needed')
      this.#dueAt = String(data['at'])
    }
    if (type === 'TopUpSettled') {
      const { outcome } = data
      const state = isOpen ? this.#states.get(this.#purchaseId) : 'closed'
      expect(this.#dueAt !== undefined, 'a top-up is settled that is not due')
      expect(state === (outcome === 'paid' ? 'paid' : 'closed'), 'a top-up is not settled as its purchase was')
      if (outcome !== 'unneeded') this.#failures = outcome === 'failed' ? this.#failures + 1 : 0
      this.#dueAt = undefined
      this.#purchaseId = undefined
    }
    if (type === 'TopUpSet') {
      this.#settings = data
      this.#failures = 0
    }
    if (type === 'TopUpRemoved') {
      expect(this.#settings !== undefined, 'top-ups are removed that are not set')
      expect(this.#dueAt === undefined || isOpen, 'top-ups are removed while one waits')
      expect((data['reason'] === 'failures') === this.#failures >= 3, 'top-ups do not end with the third failure')
      this.#settings = undefined
      this.#failures = 0
    }
    return faults
  }
}

const minorOf = ({ amount }: Facts): bigint => BigInt(String(amount).replace('.', ''))
