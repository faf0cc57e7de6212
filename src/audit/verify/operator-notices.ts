import type { Report } from '../fault.ts'
import { Attempts } from './attempts.ts'
import type { AuditedEvent, ReportEnd, Rule } from './rule.ts'

/** The operator is told of each trouble once, from its beginning to its end. Notices count from 1. */
export class OperatorNotices implements Rule {
  #number = 0
  /** The numbers of the troubles that are not over, by what has them. */
  readonly #open = new Map<string, unknown>()
  readonly #attempts = new Attempts({
    ...{ noun: 'notice', delivered: 'OperatorNoticeDelivered' },
    ...{ failed: 'OperatorNoticeAttemptFailed', abandoned: 'OperatorNoticeAbandoned' },
  })

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    this.#attempts.take(event, String(data['number']), report)
    if (type === 'OperatorNoticeRaised') this.#raise(data, report)
    if (type === 'OperatorTroubleEnded') this.#end(data['number'], report)
  }

  end(report: ReportEnd) {
    this.#attempts.end(report)
  }

  #raise({ number, trouble, mail }: AuditedEvent['data'], report: Report) {
    if (number !== this.#number + 1) report(`its number is ${number}, and ${this.#number} came before it`)
    this.#number = Number(number)
    const { kind, provider, account, sink } = trouble as Record<string, unknown>
    const subject = JSON.stringify([kind, provider, account, sink])
    if (this.#open.has(subject)) report(`the trouble of notice ${this.#open.get(subject)} is not over`)
    this.#open.set(subject, number)
    if (mail) this.#attempts.begin(String(number))
  }

  #end(number: unknown, report: Report) {
    const ended = [...this.#open].find(([, each]) => each === number)
    if (ended) this.#open.delete(ended[0])
    else report(`there is no trouble of notice ${number}`)
  }
}
