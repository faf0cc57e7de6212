import type { Clock, Timer } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Mailer, MailMessage } from '../../ports/mailer.ts'
import { withinTime } from '../../time/within-time.ts'

/**
 * Messages in memory: minutes of work for a mail server. Further ones are dropped; people can request them again. There
 * is room of its own for those that go first.
 */
const MAX_HELD = 1_000
const MAX_HELD_FIRST = 2_000
const MAX_AT_ONCE = 4

/** By then, the request has been answered. */
const SEND_AFTER_MS = 100

/** A server that is away for seconds is tried again. Codes would expire during longer waits. */
const RETRY_DELAYS_MS = [2_000, 20_000]

/** How long a stop waits for messages that are being sent. */
const LAST_MESSAGES_MS = 2_000

interface Dependencies {
  mailer: Pick<Mailer, 'send'>
  clock: Clock
  logger: Logger
}

/**
 * Sends mail after the request that causes it, so that its answer does not depend on the mail. Messages are only in
 * memory: they may hold secrets that are stored nowhere. What a crash loses is requested again.
 */
export class MailQueue {
  readonly #dependencies: Dependencies
  /** Messages that are neither sent nor dropped yet. */
  #held = 0
  readonly #due: Attempt[] = []
  readonly #dueFirst: Attempt[] = []
  readonly #sending = new Set<Promise<void>>()
  readonly #delays = new Set<Timer>()
  #isStopped = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** A message that is `isFirst` overtakes the others. */
  add(message: MailMessage, { isFirst = false } = {}) {
    const { logger } = this.#dependencies
    if (this.#isStopped) return
    if (this.#held >= (isFirst ? MAX_HELD_FIRST : MAX_HELD))
      return logger.error({}, 'the mail queue is full, so a message was dropped')
    this.#held++
    this.#sendAfter(SEND_AFTER_MS, { message, isFirst, retryDelaysMs: RETRY_DELAYS_MS })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#due.length = 0
    this.#dueFirst.length = 0
    for (const timer of this.#delays) timer.cancel()
    await withinTime(this.#dependencies.clock, Promise.all(this.#sending), LAST_MESSAGES_MS, () => [])
  }

  /** Only what is being sent takes a place, so addresses that the server refuses for now do not hold up the others. */
  #sendAfter(delayMs: number, attempt: Attempt) {
    const timer = this.#dependencies.clock.timer(delayMs, () => {
      this.#delays.delete(timer)
      const due = attempt.isFirst ? this.#dueFirst : this.#due
      due.push(attempt)
      this.#work()
    })
    this.#delays.add(timer)
  }

  #work() {
    while (this.#sending.size < MAX_AT_ONCE) {
      const attempt = this.#dueFirst.shift() ?? this.#due.shift()
      if (!attempt) return
      const sent = this.#send(attempt).finally(() => {
        this.#sending.delete(sent)
        this.#work()
      })
      this.#sending.add(sent)
    }
  }

  async #send({ message, isFirst, retryDelaysMs: [delayMs, ...retryDelaysMs] }: Attempt) {
    const { mailer, logger } = this.#dependencies
    try {
      await mailer.send(message)
    } catch (err) {
      if (delayMs !== undefined && !this.#isStopped) {
        this.#sendAfter(delayMs, { message, isFirst, retryDelaysMs })
        return
      }
      // Neither the address nor the text, which may be a secret, belongs in the log.
      logger.error({ err, subject: message.subject }, 'mail could not be sent; check SMTP_URL')
    }
    this.#held--
  }
}

/** A message, and how long to wait after each failure before it is sent again. */
interface Attempt {
  message: MailMessage
  isFirst: boolean
  retryDelaysMs: readonly number[]
}
