import { Unavailable } from '../../../src/ports/faults.ts'
import type { World } from './world.ts'

/** The longest time until a caller learns that an answer was lost. */
const LOST_AFTER_MS = 5_000

/** How late a repeated request arrives where no call is slow. */
const DOUBLED_WITHIN_MS = 100

/** The way from one process to one store, or to another party. */
export class Wire {
  readonly #world: World
  readonly #name: string
  readonly #isAlive: () => boolean

  constructor(world: World, name: string, isAlive: () => boolean) {
    this.#world = world
    this.#name = name
    this.#isAlive = isAlive
  }

  /**
   * Makes a call. A process that has crashed gets no answer, and what it sent shortly before may still take effect.
   * `lost` is the error where the outcome is unknown.
   */
  async call<Result>(
    what: string,
    effect: () => Promise<Result>,
    lost: () => Error = () => new Unavailable(`${this.#name} does not answer`),
  ): Promise<Result> {
    const { chance, timeline, faults } = this.#world
    const trace = (outcome: string) => this.#trace(what, outcome)
    if (!this.#isAlive()) return never()
    await timeline.pass(this.#delayMs())
    // A request that was on its way when its process crashed arrives or does not.
    if (!this.#isAlive() && chance.happens(0.5)) return never()
    if (chance.happens(faults.requestLost) || this.#world.nemesis.isCut(this.#name, 'there')) {
      trace('request lost')
      return this.#lose(lost)
    }
    if (chance.happens(faults.refused)) {
      trace('refused')
      return this.#answer(() => Promise.reject(new Unavailable(`${this.#name} is overloaded`)))
    }
    const outcome = await settle(effect)
    if (chance.happens(faults.doubled)) {
      trace('doubled')
      // The repeat may arrive after other requests.
      await timeline.pass(chance.between(0, faults.slow > 0 ? faults.slowMs : DOUBLED_WITHIN_MS))
      await settle(effect)
    }
    if (chance.happens(faults.answerLost) || this.#world.nemesis.isCut(this.#name, 'back')) {
      trace('answer lost')
      return this.#lose(lost)
    }
    trace('value' in outcome ? 'done' : String(outcome.error))
    return this.#answer(() => ('value' in outcome ? Promise.resolve(outcome.value) : Promise.reject(outcome.error)))
  }

  /** A receiver of parts of an answer. A process that has crashed, or is cut off, receives no more of them. */
  oneWay<Part>(receive: (part: Part) => void): (part: Part) => void {
    let isOpen = true
    return part => {
      isOpen &&= this.#isAlive() && !this.#world.nemesis.isCut(this.#name, 'back')
      if (isOpen) receive(part)
    }
  }

  /** Hands over the pages of a read. Each page may be the last, and then the read fails. */
  async *pages<Page>(what: string, pages: AsyncIterable<Page>): AsyncGenerator<Page> {
    const iterator = pages[Symbol.asyncIterator]()
    try {
      while (true) {
        const next = await this.#next(what, iterator)
        if (next.done) return
        yield next.value
      }
    } finally {
      await iterator.return?.()
    }
  }

  /** Hands over the pages of a subscription, some twice, and some in the wrong order, or falls silent. */
  async *subscription<Item>(what: string, pages: AsyncIterable<Item[]>, signal: AbortSignal): AsyncGenerator<Item[]> {
    const { chance } = this.#world
    for await (const page of this.pages(what, pages)) {
      if (chance.happens(this.#world.faults.subscriptionSilent)) {
        this.#world.count('silent subscription')
        await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
        return
      }
      const { pageDoubled, pageDisordered } = this.#world.faults
      yield chance.happens(pageDisordered) ? page.toReversed() : page
      if (chance.happens(pageDoubled)) yield page
    }
  }

  async #next<Page>(what: string, iterator: AsyncIterator<Page>): Promise<IteratorResult<Page>> {
    const { chance, timeline, faults } = this.#world
    if (this.#world.nemesis.isCut(this.#name, 'there'))
      return this.#lose(() => new Unavailable(`${this.#name} is away`))
    const next = await iterator.next()
    await timeline.pass(this.#delayMs())
    if (!this.#isAlive()) return never()
    if (chance.happens(faults.subscriptionDropped) || this.#world.nemesis.isCut(this.#name, 'back')) {
      this.#trace(what, 'dropped')
      return this.#lose(() => new Unavailable(`${this.#name} ended a read`))
    }
    return next
  }

  #trace(what: string, outcome: string) {
    this.#world.trace(`${this.#name} ${what}: ${outcome}`)
    this.#world.count(outcome)
  }

  async #lose(lost: () => Error): Promise<never> {
    await this.#world.timeline.pass(this.#world.chance.between(1, LOST_AFTER_MS))
    if (!this.#isAlive()) return never()
    throw lost()
  }

  async #answer<Result>(answer: () => Promise<Result>): Promise<Result> {
    await this.#world.timeline.pass(this.#delayMs())
    return this.#isAlive() ? answer() : never()
  }

  #delayMs(): number {
    const { chance, faults } = this.#world
    return chance.happens(faults.slow) ? chance.between(0, faults.slowMs) : chance.between(0, 3)
  }
}

const never = <Result>() => new Promise<Result>(() => undefined)

const settle = async <Value>(effect: () => Promise<Value>): Promise<{ value: Value } | { error: unknown }> => {
  try {
    return { value: await effect() }
  } catch (error) {
    return { error }
  }
}
