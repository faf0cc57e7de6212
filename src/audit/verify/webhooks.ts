import { isAcceptance } from '../../../schemas/account-events.ts'
import { type AuditedEvent, type Report, type ReportEnd, type Rule, runIdOf } from '../fault.ts'

/**
 * Webhooks belong to ended runs that requested one. Their attempts count from 1, and the last failed attempt abandons
 * them.
 */
export class Webhooks implements Rule {
  /** Runs that requested a webhook and have not ended, and runs that have. */
  readonly #asked = new Set<string>()
  readonly #ended = new Set<string>()
  readonly #attempts = new Attempts({
    ...{ noun: 'webhook', delivered: 'WebhookDelivered' },
    ...{ failed: 'WebhookAttemptFailed', abandoned: 'WebhookAbandoned' },
  })

  take(event: AuditedEvent, report: Report) {
    const { type } = event
    const runId = runIdOf(event)
    this.#attempts.take(event, runId, report)
    if (isAcceptance(event) && event.data.webhookUrl !== undefined) this.#asked.add(runId)
    if ((type === 'RunCompleted' || type === 'RunFailed') && this.#asked.delete(runId)) {
      this.#ended.add(runId)
      this.#attempts.begin(runId)
    }
    if (type !== 'WebhookRedeliveryRequested') return
    if (!this.#ended.has(runId)) report('no ended run has a webhook for it')
    if (this.#attempts.isPending(runId)) report('a delivery of this webhook is still pending')
    this.#attempts.begin(runId)
  }

  end(report: ReportEnd) {
    this.#attempts.end(report)
  }
}

/** The generations of the webhook secret follow one another from 1. */
export class WebhookSecrets implements Rule {
  #generation = 0

  take({ type, data }: AuditedEvent, report: Report) {
    if (type !== 'WebhookSecretRotated') return
    const generation = Number(data['generation'])
    if (generation !== this.#generation + 1)
      report(`its generation is ${generation}, and ${this.#generation} came before`)
    this.#generation = generation
  }
}

/** A webhook test is requested once and has at most one result. After a crash it may have none. */
export class WebhookTests implements Rule {
  /** The tests so far, and whether they have a result. */
  readonly #tests = new Map<string, boolean>()

  take({ type, data }: AuditedEvent, report: Report) {
    const testId = String(data['testId'])
    if (type === 'WebhookTestRequested') {
      if (this.#tests.has(testId)) report(`the webhook test ${testId} was already requested`)
      this.#tests.set(testId, false)
    }
    if (type === 'WebhookTested') {
      if (this.#tests.get(testId) !== false) report(`the webhook test ${testId} was not requested, or has a result`)
      this.#tests.set(testId, true)
    }
  }
}

/** Attempts of a delivery count from 1, and the last failed attempt is followed by its abandonment. */
export class Attempts {
  readonly #names: Names
  /** The attempts of each pending delivery. */
  readonly #attempts = new Map<string, number>()
  #abandoned: string | undefined

  constructor(names: Names) {
    this.#names = names
  }

  isPending(delivery: string): boolean {
    return this.#attempts.has(delivery)
  }

  /** A delivery is due. */
  begin(delivery: string) {
    this.#attempts.set(delivery, 0)
  }

  /** Takes each event of the stream, with its delivery if it has one. */
  take({ type, data }: AuditedEvent, delivery: string, report: Report) {
    const { noun, delivered, failed, abandoned: abandonedType } = this.#names
    const abandoned = this.#abandoned
    this.#abandoned = undefined
    if (abandoned && !(type === abandonedType && delivery === abandoned))
      report(`it is not the ${abandonedType} of ${abandoned}, which the previous event requires`)
    if (type === delivered || type === failed) {
      const before = this.#attempts.get(delivery)
      if (before === undefined) report(`no delivery of this ${noun} is pending`)
      else if (data['attempt'] !== before + 1) report(`its attempt is ${data['attempt']}, and ${before} came before it`)
      this.#attempts.set(delivery, Number(data['attempt']))
      if (type === failed && data['nextAttemptAt'] === undefined) this.#abandoned = delivery
    }
    if (type === abandonedType && !abandoned) report('no failed attempt precedes it')
    if (type === abandonedType || type === delivered) this.#attempts.delete(delivery)
  }

  end(report: ReportEnd) {
    if (this.#abandoned) report(`the stream ends before the ${this.#names.abandoned} of ${this.#abandoned}`)
  }
}

interface Names {
  /** What is delivered. */
  noun: string
  /** The types of its events. */
  delivered: string
  failed: string
  abandoned: string
}
