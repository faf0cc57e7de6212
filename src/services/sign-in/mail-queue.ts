import type { Clock, Timer } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Mailer, MailMessage } from '../../ports/mailer.ts'
import { withinTime } from '../../time/timers.ts'

/**
 * Messages in memory: minutes of work for a mail server. Further messages are dropped, and people can request them
 * again. First messages have an equal limit of their own.
 */
const MAX_HELD = 1_000
const MAX_HELD_FIRST = 2_000
const MAX_AT_ONCE = 4

/** The request has been answered by then. */
const SEND_AFTER_MS = 100

/** Retries bridge a short outage. During longer waits, codes would expire. */
const RETRY_DELAYS_MS = [2_000, 20_000]

/** How long a stop waits for messages in transit. */
const LAST_MESSAGES_MS = 2_000

interface Dependencies {
  mailer: Pick<Mailer, 'send'>
  clock: Clock
  logger: Logger
}

/**
 * Sends mail after the response to the request that causes it, so the response does not depend on the mail. Messages
 * stay in memory only, because they may hold secrets. After a crash, people can request lost messages again.
 */
export class MailQueue {
  readonly #dependencies: Dependencies
  /** Messages that are neither sent nor dropped. */
  #held = 0
  readonly #due: Attempt[] = []
  readonly #dueFirst: Attempt[] = []
  readonly #sending = new Set<Promise<void>>()
  readonly #delays = new Set<Timer>()
  #isStopped = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** A message with `isFirst` overtakes the others. */
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

  /** Only messages in transit take a place, so addresses that the server defers do not delay the others. */
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
      // The address and the text, which may be a secret, do not belong in the log.
      logger.error({ err, subject: message.subject }, 'mail could not be sent; check SMTP_URL')
    }
    this.#held--
  }
}

/** A message, and the waits after its failures. */
interface Attempt {
  message: MailMessage
  isFirst: boolean
  retryDelaysMs: readonly number[]
}
