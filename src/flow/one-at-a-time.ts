/** Does the work of each owner one piece after another, since much of it at once would hold up everybody else. */
export class OneAtATime<Owner> {
  /** The end of the last work that an owner has asked for. */
  readonly #doing = new Map<Owner, Promise<unknown>>()

  do<Result>(owner: Owner, work: () => Promise<Result>): Promise<Result> {
    const before = this.#doing.get(owner)
    const doing = before ? before.then(work, work) : work()
    this.#doing.set(owner, doing)
    return doing.finally(() => {
      if (this.#doing.get(owner) === doing) this.#doing.delete(owner)
    })
  }
}
