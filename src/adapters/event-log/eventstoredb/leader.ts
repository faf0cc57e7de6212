import { setTimeout as delay } from 'node:timers/promises'
import { type ServiceError, status } from '@grpc/grpc-js'
import { type Endpoint, showEndpoint } from './address.ts'
import { Refused } from './faults.ts'
import type { Node } from './node.ts'

/** Elections take seconds, so 200 ms is a short pause. */
const ROUND_PAUSE_MS = 200

/** Clusters have 3 or 5 members, and sometimes read-only replicas. */
const MAX_MEMBERS = 20

export interface Search {
  seeds: Endpoint[]
  dial(endpoint: Endpoint): Node
  /** Returns a connection to a member that is not the leader. `isSilent`: the member did not respond. */
  release(node: Node, isSilent: boolean): void
  /** Called with the members that a server lists. */
  onMembers(members: Endpoint[]): void
  /** Called for each member that fails to answer. */
  onFailure(failure: unknown): void
  signal: AbortSignal
}

/**
 * Searches in rounds until a server leads. Resolves to an open connection to the leader. Rejects with Refused, or with
 * the signal's reason.
 */
export const findLeader = async (search: Search): Promise<Node> => {
  const { signal } = search
  while (true) {
    const leader = await askAll(search)
    if (leader) return leader
    await delay(ROUND_PAUSE_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/**
 * Asks all members at once, including members that they list. Resolves to a connection to the leader, if there is one.
 * Only a member that claims to lead can be the leader, because the others keep naming a leader that hangs. Of two
 * claimants, the one that more members name wins, because a member that was cut off does not know that it was replaced.
 */
export const askAll = async (search: Search): Promise<Node | undefined> => {
  const { seeds, dial, release, onMembers, onFailure, signal } = search
  const asked = new Map<string, { node: Node; isSilent: boolean }>()
  const ballot = new Ballot()
  let unanswered = 0
  let refusal: Refused | undefined
  let isOver = false
  let abort = () => {}
  const ask = async (endpoint: Endpoint, end: () => void) => {
    const key = showEndpoint(endpoint)
    if (asked.has(key) || asked.size >= MAX_MEMBERS) return
    unanswered += 1
    const inquiry = { node: dial(endpoint), isSilent: true }
    asked.set(key, inquiry)
    try {
      const gossip = await inquiry.node.gossip()
      inquiry.isSilent = false
      if (isOver) return
      for (const member of gossip.members) ask(member, end)
      if (gossip.members.length > 0) onMembers(gossip.members)
      ballot.count(inquiry.node, gossip)
      if (ballot.hasMajority) end()
    } catch (failure) {
      if (isOver) return
      inquiry.isSilent = (failure as ServiceError).code === status.DEADLINE_EXCEEDED
      onFailure(failure)
      if (failure instanceof Refused) refusal = failure
    }
    unanswered -= 1
    if (unanswered === 0) end()
  }
  let leader: Node | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      signal.throwIfAborted()
      abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort)
      for (const seed of seeds) ask(seed, resolve)
    })
    leader = ballot.elected
    if (!leader && refusal) throw refusal
    return leader
  } finally {
    isOver = true
    signal.removeEventListener('abort', abort)
    for (const { node, isSilent } of asked.values()) if (node !== leader) release(node, isSilent)
  }
}

type Answer = Awaited<ReturnType<Node['gossip']>>

/** Counts claims and votes by instance ID, because a member may have several addresses. */
class Ballot {
  readonly #claims = new Map<string, { node: Node; size: number }>()
  readonly #votes = new Map<string, string>()

  count(node: Node, { id, leads, leader, members }: Answer) {
    if (id === undefined) return
    if (leader !== undefined) this.#votes.set(id, leader)
    // A single server lists no members. It is a cluster of one.
    if (leads && !this.#claims.has(id)) this.#claims.set(id, { node, size: Math.max(members.length, 1) })
  }

  /** Whether further responses cannot change the outcome. */
  get hasMajority(): boolean {
    return [...this.#claims].some(([id, { size }]) => this.#votesFor(id) > size / 2)
  }

  /** The claimant with the most votes; undefined in a tie. */
  get elected(): Node | undefined {
    const most = Math.max(...[...this.#claims.keys()].map(id => this.#votesFor(id)))
    const winners = [...this.#claims].filter(([id]) => this.#votesFor(id) === most)
    return winners.length === 1 ? winners[0]?.[1].node : undefined
  }

  #votesFor(id: string): number {
    return [...this.#votes.values()].filter(vote => vote === id).length
  }
}
