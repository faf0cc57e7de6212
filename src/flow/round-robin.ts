import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../ports/clock.ts'

/** The most pieces of work before other requests are served, and the time after which no further piece begins. */
const MAX_AT_ONCE = 10
const MAX_ROUND_MS = 5

/** Connections that are accepted in a row before work continues. */
const MAX_DEFERRALS = 100

interface Waiting {
  begin(): void
  /** Set if the client has left: then the work takes no turn. */
  isOver: boolean
}

/** The client of a request before its account is known: its key, or else its address. */
export const clientOf = ({ headers, socket }: IncomingMessage): string =>
  headers.authorization ?? socket.remoteAddress ?? ''

/** Spreads work that is due for many clients at once, so that it does not delay other requests. */
export class RoundRobin {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** The waiting work of each client. The client whose turn is next comes first. */
  readonly #queues = new Map<string, Waiting[]>()
  #isPassing = false
  #isDeferred = false
  #deferrals = 0
  #turn = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Changes when a turn ends: when its work is done or waits for more than resolved promises. */
  get turn(): number {
    return this.#turn
  }

  /**
   * Resolves soon. The queues take turns, and each keeps the order of its calls. Resolves at once when the client's
   * response or connection closes, because the request would otherwise stay in memory until its turn.
   */
  next(queue: string, client?: EventEmitter): Promise<void> {
    return new Promise(resolve => {
      const leave = () => {
        work.isOver = true
        resolve()
      }
      const begin = () => {
        client?.off('close', leave)
        resolve()
      }
      const work: Waiting = { begin, isOver: false }
      client?.once('close', leave)
      const waiting = this.#queues.get(queue)
      if (waiting) waiting.push(work)
      else this.#queues.set(queue, [work])
      if (!this.#isPassing) this.#passSoon()
    })
  }

  /**
   * Lets other connections arrive before the next work. Node.js accepts one between two rounds of work, and the client
   * that checks the health of the service may be the last of many.
   */
  defer() {
    this.#isDeferred = true
  }

  #passSoon() {
    this.#isPassing = true
    setImmediate(async () => {
      const mayPass = !this.#isDeferred || this.#deferrals === MAX_DEFERRALS
      this.#deferrals = mayPass ? 0 : this.#deferrals + 1
      this.#isDeferred = false
      if (mayPass) await this.#passRound()
      this.#isPassing = false
      if (this.#queues.size > 0) this.#passSoon()
    })
  }

  async #passRound() {
    // Continues in a promise's callback. From there, Node.js runs all callbacks of promises before the next tick.
    await undefined
    const endMs = this.#clock.monotonicMs() + MAX_ROUND_MS
    for (let passed = 0; passed < MAX_AT_ONCE && this.#clock.monotonicMs() < endMs; passed++) {
      const work = this.#take()
      if (!work) return
      work.begin()
      // By then, the work has been done up to its first wait for something else.
      await new Promise(process.nextTick)
      this.#turn += 1
    }
  }

  /** Takes the first work of the first queue, which then comes last. */
  #take(): Waiting | undefined {
    for (const [queue, waiting] of this.#queues) {
      this.#queues.delete(queue)
      const at = waiting.findIndex(({ isOver }) => !isOver)
      if (at === -1) continue
      const [first] = waiting.splice(0, at + 1).slice(-1)
      if (waiting.length > 0) this.#queues.set(queue, waiting)
      return first
    }
    return undefined
  }
}
