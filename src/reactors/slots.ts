/** Limits the work in progress, by name and in total, so that a slow provider or receiver leaves room for others. */
export class Slots {
  readonly #each: number
  readonly #total: number
  readonly #taken = new Map<string, number>()
  #sum = 0

  constructor({ each, total = Number.POSITIVE_INFINITY }: { each: number; total?: number }) {
    this.#each = each
    this.#total = total
  }

  /** Takes a slot; false when none is free. */
  take(name: string): boolean {
    const taken = this.#taken.get(name) ?? 0
    if (taken >= this.#each || this.#sum >= this.#total) return false
    this.#taken.set(name, taken + 1)
    this.#sum += 1
    return true
  }

  /** Frees a slot. Returns how many of that name are still taken. */
  free(name: string): number {
    const taken = (this.#taken.get(name) ?? 0) - 1
    if (taken < 0) throw new RangeError(`no slot of ${name} was taken`)
    if (taken === 0) this.#taken.delete(name)
    else this.#taken.set(name, taken)
    this.#sum -= 1
    return taken
  }
}
