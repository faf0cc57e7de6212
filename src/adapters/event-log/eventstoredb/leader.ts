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
 * Finds the server that leads, and resolves to an open connection to it. All members are asked at once, those included
 * that others name, round after round. Only what a server says of itself counts, since the others go on naming a leader
 * that hangs. Where two say that they lead, one was deposed and does not know it yet, so both are asked again.
 * Rejects with Refused, and with the signal's reason once that aborts.
 */
export const findLeader = async (search: Search): Promise<Node> => {
  const known = new Map(search.seeds.map(seed => [showEndpoint(seed), seed]))
  while (true) {
    const leader = await askAll(known, search)
    if (leader) return leader
    await delay(ROUND_PAUSE_MS, undefined, { signal: search.signal })
  }
}

const askAll = async (known: Map<string, Endpoint>, { dial, onFailure, signal }: Search): Promise<Node | undefined> => {
  const asked: Node[] = []
  const leading: Node[] = []
  let refusal: Refused | undefined
  let answers = 0
  let leader: Node | undefined
  let timer: NodeJS.Timeout | undefined
  let abort = () => {}
  try {
    await new Promise<void>((resolve, reject) => {
      signal.throwIfAborted()
      abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort)
      const ask = async (endpoint: Endpoint) => {
        const node = dial(endpoint)
        asked.push(node)
        try {
          const { leads, members } = await node.ask()
          for (const member of members) {
            if (known.has(showEndpoint(member))) continue
            known.set(showEndpoint(member), member)
            ask(member)
          }
          if (leads) {
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
      for (const endpoint of known.values()) ask(endpoint)
    })
    if (leading.length === 1) leader = leading[0]
    else if (refusal) throw refusal
    return leader
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    for (const node of asked) if (node !== leader) node.close()
  }
}
