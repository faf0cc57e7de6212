import { setTimeout as delay } from 'node:timers/promises'
import { type Endpoint, showEndpoint } from './address.ts'
import { Refused } from './faults.ts'
import type { Node } from './node.ts'

/** Elections take seconds, so 200 ms is a short pause. */
const ROUND_PAUSE_MS = 200

/** How long to wait for other members to contradict a claim to lead. Most answer within a few milliseconds. */
const CONTRADICTION_MS = 100

export interface Search {
  seeds: Endpoint[]
  dial(endpoint: Endpoint): Node
  /** Called for each member that fails to answer. */
  onFailure(failure: unknown): void
  signal: AbortSignal
}

/**
 * Asks round after round until a server leads, and resolves to an open connection to it. Rejects with Refused, or with the
 * signal's reason.
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
 * Asks all members at once, including those they name, and resolves to a connection to the leader, if there is one. Only a
 * member that claims to lead is considered, because the others keep naming a leader that hangs. If two claim it, the one
 * that more members name wins.
 */
export const askAll = async ({ seeds, dial, onFailure, signal }: Search): Promise<Node | undefined> => {
  const known = new Set<string>()
  const asked: Node[] = []
  /** By instance id, since a member may be reached by several addresses. */
  const claims = new Map<string, Node>()
  const votes = new Map<string, string>()
  let unanswered = 0
  let refusal: Refused | undefined
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  let abort = () => {}
  const ask = async (endpoint: Endpoint, end: () => void) => {
    if (known.has(showEndpoint(endpoint))) return
    known.add(showEndpoint(endpoint))
    unanswered += 1
    try {
      const node = dial(endpoint)
      asked.push(node)
      const { id, leads, leader, members } = await node.gossip()
      if (isOver) return
      for (const member of members) ask(member, end)
      if (id !== undefined && leader !== undefined) votes.set(id, leader)
      if (id !== undefined && leads && !claims.has(id)) claims.set(id, node)
      if (claims.size > 0) timer ??= setTimeout(end, CONTRADICTION_MS)
    } catch (failure) {
      if (isOver) return
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
    leader = elected(claims, [...votes.values()])
    if (!leader && refusal) throw refusal
    return leader
  } finally {
    isOver = true
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    for (const node of asked) if (node !== leader) node.close()
  }
}

/** The claimant with the most votes; undefined in a tie. */
const elected = (claims: Map<string, Node>, votes: string[]): Node | undefined => {
  const counts = [...claims.keys()].map(id => votes.filter(vote => vote === id).length)
  const most = Math.max(...counts)
  const winners = [...claims.values()].filter((_, index) => counts[index] === most)
  return winners.length === 1 ? winners[0] : undefined
}
