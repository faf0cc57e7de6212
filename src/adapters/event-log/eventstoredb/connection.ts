import { lookup } from 'node:dns/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { RevisionConflict } from '../../../ports/event-log.ts'
import { Unavailable } from '../../../ports/faults.ts'
import { type Endpoint, type EventStoreAddress, showEndpoint } from './address.ts'
import type { AppendAnswer, AppendRequest } from './appends.ts'
import { dialer } from './dial.ts'
import { Disconnected, NotTaken, toEventStoreFault } from './faults.ts'
import { askAll, findLeader, type Search } from './leader.ts'
import { advance, type Reader, type Selection, type ServerEvent } from './messages.ts'
import type { Node } from './node.ts'

/** Long enough for a new leader to learn that it is one, and short beside the time in which it is elected. */
const RETRY_PAUSE_MS = 50

/** A leader that has just confirmed that it leads is not asked again for so long. */
const ASK_AGAIN_MS = 500

export interface ConnectionLimits {
  /** How long a request that nobody takes is offered to one leader after another, and waits for the next to be found. */
  leaderTimeoutMs: number
  /** How long an answer may take until the leader is asked whether it still is one. */
  slowAfterMs: number
  /** How long the answer to an append may take until its outcome is left open. */
  appendTimeoutMs: number
}

/**
 * The way to the leader of a cluster, or to a single server. A request that is slow, or fails, makes the connection suspect:
 * the leader is asked whether it still leads, and if it does not say so within a second, another is looked for and all that
 * is under way ends at once.
 */
export class Connection {
  readonly #address: EventStoreAddress
  readonly #limits: ConnectionLimits
  readonly #place: string
  readonly #dial: (endpoint: Endpoint) => Node
  #leader: Node | undefined
  #looking: Promise<Node> | undefined
  #stopLooking = new AbortController()
  readonly #closing = new AbortController()
  #waiting = 0
  #askedAtMs = Number.NEGATIVE_INFINITY
  #lastFailure: unknown

  constructor(address: EventStoreAddress, limits: ConnectionLimits) {
    this.#address = address
    this.#limits = limits
    this.#place = `EventStoreDB at ${address.server}`
    this.#dial = dialer(address, { ...limits, slow: () => this.suspect() })
  }

  /**
   * Rejects with RevisionConflict, with Unavailable where nothing was written, and else with an error that leaves open
   * whether it was.
   */
  async append(append: AppendRequest): Promise<AppendAnswer> {
    const untilMs = performance.now() + this.#limits.leaderTimeoutMs
    while (true) {
      const leader = this.#leader ?? (await this.#findLeader(untilMs))
      try {
        return await leader.append(append)
      } catch (failure) {
        if (failure instanceof RevisionConflict) throw failure
        this.#judge(leader, failure)
        if (!(failure instanceof NotTaken) || performance.now() >= untilMs) throw failure
        await delay(RETRY_PAUSE_MS)
      }
    }
  }

  /**
   * Resolves when there is no more; a live read goes on until the signal or the server ends it. A read that is turned away is
   * taken up at the next leader after what it has brought, so that nothing comes twice. A live read fails instead.
   */
  async read(selection: Selection, reader: Reader, signal: AbortSignal): Promise<void> {
    const rest = { ...selection }
    let untilMs = performance.now() + this.#limits.leaderTimeoutMs
    const once: Reader = {
      ...reader,
      event: (event: ServerEvent) => {
        if (!advance(rest, event)) return
        untilMs = Number.POSITIVE_INFINITY
        reader.event(event)
      },
    }
    while (true) {
      const leader = this.#leader ?? (await this.#findLeader(untilMs, signal))
      try {
        return await leader.read(rest, once, signal)
      } catch (failure) {
        if (signal.aborted) throw signal.reason
        const fault = toEventStoreFault(failure, this.#place, 'read')
        this.#judge(leader, fault)
        const isLive = 'live' in selection && selection.live
        if (!(fault instanceof NotTaken) || isLive || performance.now() >= untilMs) throw fault
        // What a read brings gives it more time.
        untilMs = Math.min(untilMs, performance.now() + this.#limits.leaderTimeoutMs)
        await delay(RETRY_PAUSE_MS)
      }
    }
  }

  /** Asks the leader, and then all members, whether it still leads, unless that has just been asked. */
  suspect() {
    const leader = this.#leader
    if (!leader || performance.now() - this.#askedAtMs < ASK_AGAIN_MS) return
    // Until the answers are there.
    this.#askedAtMs = Number.POSITIVE_INFINITY
    this.#check(leader).finally(() => {
      this.#askedAtMs = performance.now()
    })
  }

  async #check(leader: Node): Promise<void> {
    const leads = await leader.ask().then(
      answer => answer.leads,
      () => false,
    )
    if (!leads) return this.#leave(leader)
    // One that is cut off from the others does not know that they have chosen another.
    const elected = await askAll(await this.#search(this.#closing.signal)).catch(() => undefined)
    if (!elected) return
    const isOther = showEndpoint(elected.endpoint) !== showEndpoint(leader.endpoint)
    elected.close()
    if (isOther) this.#leave(leader)
  }

  /** Gives up all requests that are still under way. */
  close() {
    this.#closing.abort(new Disconnected(`${this.#place} was disconnected`))
    this.#stopLooking.abort(this.#closing.signal.reason)
    if (this.#leader) this.#leave(this.#leader)
  }

  /** What a failed request says of the server that it was made to. */
  #judge(leader: Node, fault: unknown) {
    if (fault instanceof Unavailable) this.#lastFailure = fault
    // An append that is in doubt has the fault that ended its call as its cause.
    if (fault instanceof Disconnected || (fault as Error).cause instanceof Disconnected) this.#leave(leader)
    else this.suspect()
  }

  #leave(leader: Node) {
    leader.close()
    if (this.#leader !== leader) return
    this.#leader = undefined
    // Whoever comes next finds the search well under way.
    this.#findLeader(performance.now() + this.#limits.leaderTimeoutMs).catch(() => undefined)
  }

  /** One search serves all who wait, and ends when nobody does. */
  async #findLeader(untilMs: number, signal?: AbortSignal): Promise<Node> {
    this.#closing.signal.throwIfAborted()
    this.#looking ??= this.#look()
    this.#waiting += 1
    let timer: NodeJS.Timeout | undefined
    let abort = () => {}
    try {
      return await Promise.race([
        this.#looking,
        new Promise<never>((_, reject) => {
          timer = setTimeout(() => reject(this.#noLeader()), untilMs - performance.now())
          abort = () => reject(signal?.reason)
          signal?.addEventListener('abort', abort)
        }),
      ])
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      this.#waiting -= 1
      if (this.#waiting === 0) this.#stopLooking.abort(this.#noLeader())
    }
  }

  async #look(): Promise<Node> {
    this.#stopLooking = new AbortController()
    try {
      const leader = await findLeader(await this.#search(this.#stopLooking.signal))
      this.#askedAtMs = performance.now()
      this.#leader = leader
      return leader
    } finally {
      this.#looking = undefined
    }
  }

  async #search(signal: AbortSignal): Promise<Search> {
    const onFailure = (failure: unknown) => {
      this.#lastFailure = failure
    }
    return { seeds: await this.#seeds(), dial: this.#dial, onFailure, signal }
  }

  async #seeds(): Promise<Endpoint[]> {
    const { seeds, discover } = this.#address
    const [seed] = seeds
    if (!discover || !seed) return seeds
    const found = await lookup(seed.host, { all: true }).catch(() => [])
    return found.length === 0 ? seeds : found.map(({ address }) => ({ ...seed, host: address, name: seed.host }))
  }

  #noLeader(): Error {
    const failure = this.#lastFailure
    if (failure) return toEventStoreFault(failure, this.#place, 'read')
    return new Unavailable(`${this.#place} has no member that says that it leads`)
  }
}
