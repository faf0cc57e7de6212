import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Mailer, MailMessage } from '../../ports/mailer.ts'
import { delay } from '../../time/delay.ts'
import { withinTime } from '../../time/within-time.ts'

/** Messages in memory: minutes of what a mail server takes. Those beyond are dropped, and can be asked for again. */
const MAX_WAITING = 1_000
const MAX_AT_ONCE = 4

/** By then, the request was answered. */
const SEND_AFTER_MS = 100

/** A server that is away for seconds is tried again. Codes would expire during longer waits. */
const RETRY_DELAYS_MS = [2_000, 20_000]

/** How long a stop waits for messages that are being sent. */
const LAST_MESSAGES_MS = 2_000

interface Parts {
  mailer: Mailer
  clock: Clock
  logger: Logger
}

/**
 * Sends mail after the request that causes it, so that its answer does not depend on the mail. Messages are only in
 * memory: they may hold secrets that are stored nowhere. What a crash loses is requested again.
 */
export class MailQueue {
  readonly #parts: Parts
  readonly #waiting: MailMessage[] = []
  readonly #sending = new Set<Promise<void>>()
  readonly #stop = new AbortController()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  add(message: MailMessage) {
    const { logger } = this.#parts
    if (this.#waiting.length >= MAX_WAITING) return logger.error({}, 'too much mail waits, so a message was dropped')
    this.#waiting.push(message)
    this.#work()
  }

  async stop(): Promise<void> {
    this.#waiting.length = 0
    this.#stop.abort()
    await withinTime(this.#parts.clock, Promise.all(this.#sending), LAST_MESSAGES_MS, () => [])
    this.#parts.mailer.close()
  }

  #work() {
    while (this.#sending.size < MAX_AT_ONCE) {
      const message = this.#waiting.shift()
      if (!message) return
      const sent = this.#send(message).finally(() => {
        this.#sending.delete(sent)
        this.#work()
      })
      this.#sending.add(sent)
    }
  }

  async #send(message: MailMessage) {
    const { mailer, clock, logger } = this.#parts
    await delay(clock, SEND_AFTER_MS, this.#stop.signal)
    for (const delayMs of [...RETRY_DELAYS_MS, undefined])
      try {
        return await mailer.send(message)
      } catch (err) {
        if (delayMs === undefined || this.#stop.signal.aborted) {
          // Neither the address nor the text, which may be a secret, belongs into the log.
          logger.error({ err, subject: message.subject }, 'mail could not be sent; see SMTP_URL')
          return
        }
        await delay(clock, delayMs, this.#stop.signal)
      }
  }
}
