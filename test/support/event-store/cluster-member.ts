import type { EventLog } from '../../../src/ports/event-log.ts'
import { MemberLog } from './cluster-log.ts'
import type { Faults } from './faults.ts'
import { type EventStoreNode, type Member, startNode } from './node.ts'
import type { Role } from './writes.ts'

export type Phase = 'serving' | 'hung' | 'deposed' | 'leaving' | 'down'

export interface MemberOptions {
  log: EventLog
  version: string
  commitTimeoutMs: number
  canCommit(): boolean
  role: Role
  members(): Member[]
}

/** A member of a cluster that can be stopped, resumed, killed and restarted on its port. */
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

  /** Breaks its connections, but accepts new ones. */
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

  /** Resumes before the others have replaced it. */
  resume() {
    this.#expect('hung')
    this.phase = 'serving'
    this.#log?.release()
    this.#node?.front.silence(false)
  }

  /** Resumes a leader that the others have replaced. */
  resumeDeposed({ deposedMs, leavingMs, stale }: { deposedMs: number; leavingMs: number; stale: boolean }) {
    this.#expect('hung')
    this.phase = 'deposed'
    this.#log?.lose({ stale })
    this.#node?.front.silence(false)
    this.#timer = setTimeout(() => {
      this.phase = 'leaving'
      this.#timer = setTimeout(() => this.end(), leavingMs)
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
