import type { Report } from '../fault.ts'
import type { AuditedEvent, ReportEnd } from './rule.ts'

interface Names {
  /** What is delivered. */
  noun: string
  /** The types of its events. */
  delivered: string
  failed: string
  abandoned: string
}

/** Attempts to deliver something count from 1, and the last failed one is abandoned with the next event. */
export class Attempts {
  readonly #names: Names
  /** The attempts so far of each delivery that is not over. */
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

  /** Takes each event of the stream, and the delivery that it is about, if it is about one. */
  take({ type, data }: AuditedEvent, delivery: string, report: Report) {
    const { noun, delivered, failed, abandoned: abandonedType } = this.#names
    const abandoned = this.#abandoned
    this.#abandoned = undefined
    if (abandoned && !(type === abandonedType && delivery === abandoned))
      report(`it is not the ${abandonedType} of ${abandoned}, which the event before it calls for`)
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
