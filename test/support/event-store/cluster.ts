import type { EventLog } from '../../../src/ports/event-log.ts'
import { ClusterMember } from './cluster-member.ts'
import { notLeader, notReady, type Refusal } from './faults.ts'
import { HOST, type Member } from './node.ts'
import { VERSION } from './server.ts'

export interface ClusterOptions {
  /** The log of the cluster, with the events that a majority has. */
  log: EventLog
  size?: number
  /** From the loss of a leader until the next is elected. */
  electionMs?: number
  version?: string
  /** How long a deposed leader runs before it learns of the new one. */
  deposedMs?: number
  /** How long it then still answers requests. */
  leavingMs?: number
  /** When an append without a majority times out. The server's default is 2000. */
  commitTimeoutMs?: number
}

/**
 * A cluster in one process. It behaves like three real servers (24.10.4) of which one was stopped with SIGSTOP, resumed
 * with SIGCONT, or killed. The first member is the initial leader.
 */
export const startEventStoreCluster = async (options: ClusterOptions): Promise<EventStoreCluster> => {
  const cluster = new EventStoreCluster(options)
  await Promise.all(cluster.members.map(member => member.start()))
  return cluster
}

export class EventStoreCluster {
  readonly members: readonly ClusterMember[]
  /** The index of the leader, or of the last one during an election. */
  leader = 0
  /** When the last election ended, by performance.now(). */
  electedAtMs = performance.now()
  /** Former leaders that hung and have been replaced. */
  readonly #led = new Set<number>()
  readonly #electionMs: number
  readonly #deposal: { deposedMs: number; leavingMs: number }
  /** An election is running. The others notice a killed leader at once, a hung one only when it ends. */
  #vacancy: { isNoticed: boolean; timer: NodeJS.Timeout | undefined } | undefined

  constructor({
    log,
    size = 3,
    electionMs = 500,
    version = VERSION,
    deposedMs = 300,
    leavingMs = 100,
    commitTimeoutMs = 2000,
  }: ClusterOptions) {
    this.#electionMs = electionMs
    this.#deposal = { deposedMs, leavingMs }
    const canCommit = () => this.members[this.leader]?.phase === 'serving' && this.#hasMajority()
    this.members = Array.from({ length: size }, (_, place) => {
      const [role, members] = [this.#roleOf(place), () => this.#membersSeenBy(place)]
      return new ClusterMember({ log, version, commitTimeoutMs, canCommit, role, members })
    })
  }

  get url(): string {
    return `esdb://${this.members.map(({ port }) => `${HOST}:${port}`).join(',')}?tls=false`
  }

  /**
   * Like SIGSTOP: connections stay open, the kernel accepts new ones, and nothing is answered. Pending appends are
   * written only if it resumes before the others elect another leader.
   */
  async hang(place: number): Promise<void> {
    const held = this.#member(place).hang()
    if (place === this.leader) this.#await({ isNoticed: false })
    await held
  }

  /**
   * Like SIGCONT. A deposed leader behaves as leader for a while: it accepts appends that are never committed, and
   * serves reads from its old log, or from the current one if `stale` is false. Then it refuses requests that require
   * the leader, including running reads, and exits with status 0.
   */
  resume(place: number, { stale = true }: { stale?: boolean } = {}) {
    const member = this.#member(place)
    if (place === this.leader) {
      clearTimeout(this.#vacancy?.timer)
      this.#vacancy = undefined
      member.resume()
    } else if (this.#led.delete(place)) member.resumeDeposed({ ...this.#deposal, stale })
    else {
      member.resume()
      this.#electWhereNeeded()
    }
  }

  /** Like SIGKILL: its connections break, and its port refuses new ones. */
  kill(place: number) {
    this.#member(place).end()
    this.#led.delete(place)
    if (place !== this.leader) return
    if (this.#vacancy) this.#vacancy.isNoticed = true
    else this.#await({ isNoticed: true })
  }

  /** Restarts a member on its port, as a follower. */
  async start(place: number): Promise<void> {
    await this.#member(place).start()
    this.#electWhereNeeded()
  }

  /** The leader resigns, and at once refuses requests that require the leader. */
  resign(place: number) {
    if (place !== this.leader || this.#vacancy) throw new Error(`member ${place} does not lead`)
    this.#elect()
  }

  close() {
    clearTimeout(this.#vacancy?.timer)
    for (const member of this.members) member.end()
  }

  #await({ isNoticed }: { isNoticed: boolean }) {
    clearTimeout(this.#vacancy?.timer)
    this.#vacancy = { isNoticed, timer: setTimeout(() => this.#elect(), this.#electionMs) }
  }

  /** Returning members may restore the majority. */
  #electWhereNeeded() {
    if (this.#vacancy && !this.#vacancy.timer) this.#await(this.#vacancy)
  }

  #elect() {
    const { length } = this.members
    const places = Array.from({ length: length - 1 }, (_, index) => (this.leader + 1 + index) % length)
    const elected = [...places, this.leader].find(place => this.members[place]?.phase === 'serving')
    if (elected === undefined || !this.#hasMajority()) {
      if (this.#vacancy) this.#vacancy.timer = undefined
      return
    }
    if (this.members[this.leader]?.phase === 'hung') this.#led.add(this.leader)
    this.leader = elected
    this.#vacancy = undefined
    this.electedAtMs = performance.now()
  }

  #hasMajority(): boolean {
    return this.members.filter(({ phase }) => phase === 'serving').length > this.members.length / 2
  }

  #roleOf(place: number) {
    return (requiresLeader: boolean): Refusal | undefined => {
      if (this.#takesItselfForLeader(place)) return undefined
      if (this.#vacancy?.isNoticed) return notReady()
      return requiresLeader ? notLeader(HOST, this.#member(this.leader).port) : undefined
    }
  }

  #takesItselfForLeader(place: number): boolean {
    const { phase } = this.#member(place)
    return phase === 'deposed' || (place === this.leader && phase !== 'leaving' && !this.#vacancy?.isNoticed)
  }

  #membersSeenBy(viewer: number): Member[] {
    const isDeposed = this.#member(viewer).phase === 'deposed'
    return this.members.map(({ id, port, phase, hungAtMs }, place) => {
      const leads = isDeposed ? place === viewer : place === this.leader
      const isMissed = performance.now() - hungAtMs >= this.#electionMs && !(place === this.leader && this.#vacancy)
      const isAlive = phase === 'serving' || place === viewer || (phase === 'hung' && !isMissed)
      const state = this.#vacancy?.isNoticed && !isDeposed ? 'UNKNOWN' : leads ? 'LEADER' : 'FOLLOWER'
      return { id, port, state, isAlive }
    })
  }

  #member(place: number): ClusterMember {
    const member = this.members[place]
    if (!member) throw new RangeError(`there is no member ${place}`)
    return member
  }
}
