import type { PendingMail } from '../../domain/operator/alerts.ts'
import { MAX_WAIT_MS } from '../../domain/webhook-schedule.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Mailer } from '../../ports/mailer.ts'
import type { Random } from '../../ports/random.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import { alertMail } from '../../services/operator/alert-mail.ts'
import type { Alerts } from '../../services/operator/alerts.ts'
import { every, withinTime } from '../../time/timers.ts'
import { Leases } from '../leases.ts'
import { nextAttempt } from '../webhooks/attempts.ts'

/** How often to look for mail that is due. */
const POLL_MS = 5_000

/** Mail that is due later was recorded while a clock was ahead. */
const MAX_AHEAD_MS = 2 * MAX_WAIT_MS

/** How long a stop waits for mail that is being sent. It is sent again if that is not recorded by then. */
const STOP_MS = 2_000

interface Dependencies {
  alerts: Pick<Alerts, 'state' | 'record'>
  /** The address of the operator, if there is one. */
  to: string | undefined
  mailer: Pick<Mailer, 'send'>
  views: ViewStore
  clock: Clock
  random: Random
  logger: Logger
  publicUrl(): string
  leaseMs?: number | undefined
}

/** Mails the operator the alerts that are due, one after another, and records each attempt. */
export class AlertMails {
  readonly #dependencies: Dependencies
  readonly #leases: Leases<string>
  #working: Promise<void> | undefined
  #stopTicking = () => {}

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#leases = new Leases(dependencies, 'operator-mail')
  }

  start() {
    this.#leases.start()
    this.#stopTicking = every(this.#dependencies.clock, POLL_MS, () => this.#tick())
  }

  async stop() {
    this.#stopTicking()
    if (this.#working) await withinTime(this.#dependencies.clock, this.#working, STOP_MS, () => undefined)
    await this.#leases.stop()
  }

  #tick() {
    const { logger } = this.#dependencies
    this.#working ??= this.#sendDue()
      .catch(error => logger.warn({ err: error }, 'the operator could not be notified of alerts'))
      .finally(() => {
        this.#working = undefined
      })
  }

  async #sendDue() {
    const { alerts, clock } = this.#dependencies
    for (const [number, mail] of (await alerts.state()).pending) {
      const aheadMs = Date.parse(mail.dueAt) - clock.nowMs()
      if (aheadMs > 0 && aheadMs < MAX_AHEAD_MS) continue
      const lease = String(number)
      if (!(await this.#leases.takeLeases([lease])).has(lease)) continue
      try {
        // Another process may have sent it since.
        if ((await alerts.state()).pending.get(number)?.attempts === mail.attempts) await this.#send(number, mail)
      } finally {
        this.#leases.releaseLease(lease)
      }
    }
  }

  async #send(number: number, mail: PendingMail) {
    const attempt = mail.attempts + 1
    const outcome = await this.#attempt(mail, attempt)
    await this.#dependencies.alerts.record({ type: 'RecordAlertMail', number, attempt, outcome })
  }

  async #attempt({ alert, raisedAt }: PendingMail, attempt: number) {
    const { to, mailer, logger, publicUrl } = this.#dependencies
    if (to === undefined) return { delivered: false, reason: 'OPERATOR_EMAIL is not set.' } as const
    try {
      await mailer.send(alertMail({ to, alert, raisedAt, publicUrl: publicUrl() }))
      return { delivered: true } as const
    } catch (err) {
      logger.warn({ err, kind: alert.kind }, 'the operator could not be notified of an alert; check SMTP_URL')
      const reason = 'The mail server did not accept the message.'
      return { delivered: false, reason, ...nextAttempt(this.#dependencies, attempt) } as const
    }
  }
}
