import { setTimeout as delay } from 'node:timers/promises'
import { type Endpoint, showEndpoint } from './address.ts'
import { Refused } from './faults.ts'
import type { Node } from './node.ts'

/** The pause between two rounds: short beside an election, which takes seconds. */
const ROUND_PAUSE_MS = 200

/** How long the others may contradict a server that says that it leads. Most answer within a few milliseconds. */
const CONTRADICTION_MS = 100

export interface Search {
  seeds: Endpoint[]
  dial(endpoint: Endpoint): Node
  /** Hears of each member that does not answer. */
  onFailure(failure: unknown): void
  signal: AbortSignal
}

/**
 * Asks round after round until a server leads, and resolves to an open connection to it. Rejects with Refused, and with
 * the signal's reason once that aborts.
 */
export const findLeader = async (search: Search): Promise<Node> => {
  while (true) {
    const leader = await askAll(search)
    if (leader) return leader
    await delay(ROUND_PAUSE_MS, undefined, { signal: search.signal })
  }
}

/**
 * Asks all members at once, those included that others name, and resolves to an open connection to the one that leads, if
 * one does. Only a server that says of itself that it leads is taken, since the others go on naming one that hangs. Where
 * two say so, one was deposed and does not know it yet: then the others decide.
 */
export const askAll = async ({ seeds, dial, onFailure, signal }: Search): Promise<Node | undefined> => {
  const known = new Set<string>()
  const asked: Node[] = []
  const leading: Node[] = []
  const votes = new Map<string, number>()
  let answers = 0
  let refusal: Refused | undefined
  let leader: Node | undefined
  let timer: NodeJS.Timeout | undefined
  let abort = () => {}
  try {
    await new Promise<void>((resolve, reject) => {
      signal.throwIfAborted()
      abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort)
      const ask = async (endpoint: Endpoint) => {
        if (known.has(showEndpoint(endpoint))) return
        known.add(showEndpoint(endpoint))
        const node = dial(endpoint)
        asked.push(node)
        try {
          const answer = await node.ask()
          for (const member of answer.members) ask(member)
          if (answer.leader) {
            const named = showEndpoint(answer.leader)
            votes.set(named, (votes.get(named) ?? 0) + 1)
          }
          if (answer.leads) {
            leading.push(node)
            timer ??= setTimeout(resolve, CONTRADICTION_MS)
          }
        } catch (failure) {
          onFailure(failure)
          if (failure instanceof Refused) refusal = failure
        }
        answers += 1
        if (answers === asked.length) resolve()
      }
      for (const seed of seeds) ask(seed)
    })
    leader = electedOf(leading, votes)
    if (!leader && refusal) throw refusal
    return leader
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    for (const node of asked) if (node !== leader) node.close()
  }
}

/** The one that more members take for the leader than any other. */
const electedOf = (leading: Node[], votes: Map<string, number>): Node | undefined => {
  const votesOf = ({ endpoint }: Node) => votes.get(showEndpoint(endpoint)) ?? 0
  const most = Math.max(...leading.map(votesOf))
  const elected = leading.filter(node => votesOf(node) === most)
  return elected.length === 1 ? elected[0] : undefined
}
