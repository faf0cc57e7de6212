import type { EventLog } from '../../../src/ports/event-log.ts'
import { MemberLog } from './cluster-log.ts'
import type { Faults } from './faults.ts'
import { type EventStoreNode, type Member, startNode } from './node.ts'
import type { Role } from './writes.ts'

/**
 * - serving: it leads or follows, as the cluster has it.
 * - hung: its process is stopped.
 * - deposed: it goes on, and takes itself for the leader that it was.
 * - leaving: it has learned that it is not, and is about to end.
 * - down: its process is gone.
 */
export type Phase = 'serving' | 'hung' | 'deposed' | 'leaving' | 'down'

export interface MemberOptions {
  log: EventLog
  version: string
  commitTimeoutMs: number
  canCommit(): boolean
  role: Role
  members(): Member[]
}

/** A deposed leader is still there for so long after it has learned of the new one, to say so. */
const LEAVING_MS = 100

/** One member of a cluster, which can be stopped, go on, be killed and be started again at its port. */
export class ClusterMember {
  readonly faults: Faults = {}
  phase: Phase = 'down'
  id = ''
  port = 0
  hungAtMs = 0
  readonly #options: MemberOptions
  #node: EventStoreNode | undefined
  #log: MemberLog | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: MemberOptions) {
    this.#options = options
  }

  /** Breaks its connections; new ones are taken. */
  dropConnections() {
    this.#node?.front.dropConnections()
  }

  async start() {
    this.#expect('down')
    const { version, role, members } = this.#options
    const log = new MemberLog(this.#options)
    this.#log = log
    this.id = crypto.randomUUID()
    this.#node = await startNode({ log, port: this.port, faults: this.faults, version, role, members })
    this.port = this.#node.front.port
    this.phase = 'serving'
  }

  async hang() {
    this.#expect('serving')
    this.phase = 'hung'
    this.hungAtMs = performance.now()
    this.#node?.front.silence(true)
    await this.#log?.hold()
  }

  /** The others have waited for it. */
  goOn() {
    this.#expect('hung')
    this.phase = 'serving'
    this.#log?.release()
    this.#node?.front.silence(false)
  }

  /** It led when it was stopped, and the others have chosen another leader since. */
  goOnDeposed({ deposedMs, stale }: { deposedMs: number; stale: boolean }) {
    this.#expect('hung')
    this.phase = 'deposed'
    this.#log?.lose({ stale })
    this.#node?.front.silence(false)
    this.#timer = setTimeout(() => {
      this.phase = 'leaving'
      this.#timer = setTimeout(() => this.end(), LEAVING_MS)
    }, deposedMs)
  }

  end() {
    clearTimeout(this.#timer)
    this.phase = 'down'
    this.#log?.end()
    this.#node?.close()
    this.#node = undefined
  }

  #expect(phase: Phase) {
    if (this.phase !== phase) throw new Error(`the member at ${this.port} is ${this.phase}, not ${phase}`)
  }
}
