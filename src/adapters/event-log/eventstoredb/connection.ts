import { lookup } from 'node:dns/promises'
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import { RevisionConflict } from '../../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../../ports/faults.ts'
import { withinTime } from '../../../time/timers.ts'
import { systemClock } from '../../clock/system.ts'
import { type Endpoint, type EventStoreAddress, showEndpoint } from './address.ts'
import type { Append, AppendAnswer } from './appends.ts'
import { dialer } from './dial.ts'
import { FellBehind, LeaderLost, NotHandled, Refused, toEventStoreFault } from './faults.ts'
import { askAll, findLeader, type Search } from './leader.ts'
import { advance, type Reader, type Selection, type ServerEvent } from './messages.ts'
import type { Node } from './node.ts'

/** A new leader needs a moment to learn that it leads. 50 ms is short compared with an election. */
const RETRY_PAUSE_MS = 50

/** The minimum time between two checks of the leader. */
const VERIFY_AGAIN_MS = 500

/** A server takes 100 requests at once on a connection. The others are appends, live reads and gossip. */
const MAX_READS = 80

/** If a DNS lookup takes longer, gRPC resolves the name. */
const LOOKUP_TIMEOUT_MS = 1000

interface ConnectionOptions {
  /** How long to look for a leader and retry a request that was not handled. */
  leaderTimeoutMs: number
  /** The time without a response after which the leader is checked. */
  slowAfterMs: number
  /** The time without a response after which an append is in doubt. */
  appendTimeoutMs: number
}

/**
 * The connection to the leader of a cluster, or to a single server. A slow or failed request triggers a check of the
 * leader. A leader that does not confirm its role within a second, or that the other members have replaced, is dropped,
 * and its requests end.
 */
export class Connection {
  readonly #address: EventStoreAddress
  readonly #options: ConnectionOptions
  readonly #place: string
  readonly #dial: (endpoint: Endpoint) => Node
  readonly #closing = new AbortController()
  #leader: Node | undefined
  #search: { found: Promise<Node>; stop: AbortController } | undefined
  #waiting = 0
  /** Members learned from gossip. */
  #members: Endpoint[] = []
  /** Connections to silent members, by address. The next search reuses them instead of opening more. */
  readonly #silent = new Map<string, Node>()
  readonly #reads = pLimit(MAX_READS)
  #verifiedAtMs = Number.NEGATIVE_INFINITY
  #lastFailure: unknown

  constructor(address: EventStoreAddress, options: ConnectionOptions) {
    this.#address = address
    this.#options = options
    this.#place = `EventStoreDB at ${address.server}`
    this.#dial = dialer(address, { ...options, onSlow: () => this.verifyLeader() })
  }

  /**
   * Rejects with RevisionConflict, with Unavailable if nothing was written, or with another error if the outcome is
   * unknown.
   */
  async append(append: Append): Promise<AppendAnswer> {
    const untilMs = performance.now() + this.#options.leaderTimeoutMs
    while (true) {
      const leader = this.#leader ?? (await this.#findLeader(untilMs))
      try {
        return await leader.append(append)
      } catch (failure) {
        this.#onFailure(leader, failure)
        if (!(failure instanceof NotHandled) || performance.now() >= untilMs) throw failure
        await delay(RETRY_PAUSE_MS)
      }
    }
  }

  /**
   * Resolves at the current end; a live read continues until the signal or the server ends it. An interrupted catch-up
   * read continues at the next leader after the last delivered event. An interrupted live read fails.
   */
  async read(selection: Selection, reader: Reader, signal: AbortSignal): Promise<void> {
    const rest = { ...selection }
    let untilMs = performance.now() + this.#options.leaderTimeoutMs
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
        return await this.#reads(() => leader.read(rest, once, signal))
      } catch (failure) {
        if (signal.aborted) throw signal.reason
        const fault = toEventStoreFault(failure, this.#place, 'read')
        this.#onFailure(leader, fault)
        const isLive = 'live' in selection && selection.live
        if (!(fault instanceof NotHandled) || isLive || performance.now() >= untilMs) throw fault
        // Progress renews the time limit.
        untilMs = Math.min(untilMs, performance.now() + this.#options.leaderTimeoutMs)
        await delay(RETRY_PAUSE_MS)
      }
    }
  }

  /** Checks that the leader still leads, unless a check ran recently. */
  verifyLeader() {
    const leader = this.#leader
    if (!leader || performance.now() - this.#verifiedAtMs < VERIFY_AGAIN_MS) return
    // No second check while one is running.
    this.#verifiedAtMs = Number.POSITIVE_INFINITY
    this.#verify(leader).finally(() => {
      this.#verifiedAtMs = performance.now()
    })
  }

  /** Ends all requests. */
  close() {
    this.#closing.abort(new LeaderLost(`${this.#place} was disconnected`))
    this.#search?.stop.abort(this.#closing.signal.reason)
    this.#leader?.close()
    this.#leader = undefined
    for (const node of this.#silent.values()) node.close()
  }

  async #verify(leader: Node): Promise<void> {
    const gossip = await leader.gossip().catch(() => undefined)
    if (!gossip?.leads) return this.#dropLeader(leader)
    if (gossip.members.length === 0) return
    // A leader that is cut off does not know that the other members have elected another one.
    const elected = await askAll(await this.#newSearch(this.#closing.signal)).catch(() => undefined)
    const isOther = elected && showEndpoint(elected.endpoint) !== showEndpoint(leader.endpoint)
    if (!isOther || this.#leader !== leader) return elected?.close()
    this.#leader = elected
    leader.close()
  }

  /** Decides from a failure whether to drop or check the leader. */
  #onFailure(leader: Node, fault: unknown) {
    if (SAYS_NOTHING.some(known => fault instanceof known)) return
    this.#lastFailure = fault
    // If an append is in doubt, its cause is the failure that ended the call.
    if (fault instanceof LeaderLost || (fault as Error).cause instanceof LeaderLost) this.#dropLeader(leader)
    else this.verifyLeader()
  }

  #dropLeader(leader: Node) {
    leader.close()
    if (this.#leader !== leader) return
    this.#leader = undefined
    // Start searching before the next request needs a leader.
    this.#findLeader(performance.now() + this.#options.leaderTimeoutMs).catch(() => undefined)
  }

  /** All waiting requests share one search. It stops when none is left. */
  async #findLeader(untilMs: number, signal?: AbortSignal): Promise<Node> {
    this.#closing.signal.throwIfAborted()
    signal?.throwIfAborted()
    this.#search ??= this.#startSearch()
    const search = this.#search
    this.#waiting += 1
    const tooLate = () => {
      throw this.#noLeader()
    }
    try {
      return await withinTime(systemClock, search.found, untilMs - performance.now(), tooLate, signal)
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0) {
        search.stop.abort(this.#noLeader())
        if (this.#search === search) this.#search = undefined
      }
    }
  }

  #startSearch() {
    const stop = new AbortController()
    const find = async (): Promise<Node> => {
      const leader = await findLeader(await this.#newSearch(stop.signal))
      if (stop.signal.aborted) {
        leader.close()
        throw stop.signal.reason
      }
      this.#search = undefined
      this.#lastFailure = undefined
      this.#verifiedAtMs = performance.now()
      this.#leader = leader
      return leader
    }
    const search = { found: find(), stop }
    search.found.catch(() => {
      if (this.#search === search) this.#search = undefined
    })
    return search
  }

  async #newSearch(signal: AbortSignal): Promise<Search> {
    return {
      seeds: [...(await this.#seeds()), ...this.#members],
      dial: endpoint => {
        const silent = this.#silent.get(showEndpoint(endpoint))
        this.#silent.delete(showEndpoint(endpoint))
        return silent ?? this.#dial(endpoint)
      },
      release: (node, isSilent) => {
        const key = showEndpoint(node.endpoint)
        if (!isSilent || this.#silent.has(key) || this.#closing.signal.aborted) return node.close()
        this.#silent.set(key, node)
      },
      onMembers: members => {
        this.#members = members
      },
      onFailure: failure => {
        this.#lastFailure = failure
      },
      signal,
    }
  }

  async #seeds(): Promise<Endpoint[]> {
    const { seeds, discover } = this.#address
    const [seed] = seeds
    if (!discover || !seed) return seeds
    const resolved = lookup(seed.host, { all: true }).catch(() => [])
    const found = await withinTime(systemClock, resolved, LOOKUP_TIMEOUT_MS, () => [])
    return found.length === 0 ? seeds : found.map(({ address }) => ({ ...seed, host: address, name: seed.host }))
  }

  #noLeader(): Error {
    const cause = this.#lastFailure
    if (!cause) return new Unavailable(`${this.#place}: no member claims to lead`, { part: 'log' })
    return new Unavailable(toEventStoreFault(cause, this.#place, 'read').message, { part: 'log', cause })
  }
}

/** Failures that are unrelated to the leader. */
const SAYS_NOTHING = [RevisionConflict, Damaged, FellBehind, Refused, RangeError]
