import type { NewEvent } from '../../../src/ports/event-log.ts'

/** Follows the notices in the log, and compares them with the mail and the webhooks that arrive. */
export class NoticeTruth {
  /** The notices that go to URLs, by the ids of their webhooks, and the body that has arrived. */
  readonly #raised = new Map<string, { url: string; kind: string; body?: string }>()
  /** The deliveries that are not over. */
  readonly #pending = new Set<string>()
  #mails = 0
  #recordedMails = 0
  readonly #onViolation: (violation: string) => void
  readonly #isAnswered: (id: string) => boolean

  constructor(onViolation: (violation: string) => void, isAnswered: (id: string) => boolean) {
    this.#onViolation = onViolation
    this.#isAnswered = isAnswered
  }

  follow(stream: string, events: NewEvent[]) {
    for (const { type, data } of events) {
      const { number, channel = 'email', ...facts } = data as { number: number; channel?: string }
      const delivery = `${stream} ${number} ${channel}`
      if (type === 'NoticeRaised') this.#raise(stream, number, facts as Raised)
      if (type === 'OperatorNoticeRaised' && (facts as { mail?: boolean }).mail) this.#pending.add(delivery)
      if (/^(Operator)?Notice(Delivered|Abandoned)$/.test(type)) this.#pending.delete(delivery)
      if (!/^(Operator)?NoticeDelivered$/.test(type)) continue
      if (channel === 'email' && ++this.#recordedMails > this.#mails)
        this.#onViolation(`mail of ${delivery} was recorded as delivered, and no server accepted it`)
      if (channel === 'url' && !this.#isAnswered(idOf(stream, number)))
        this.#onViolation(`${delivery} was recorded as delivered, and no receiver accepted it`)
    }
  }

  /** The mail server accepted a message. */
  noteMail() {
    this.#mails += 1
  }

  /** A notice arrived at a URL: it is in the log, and always the same. */
  expectArrival(id: string, url: string, body: string) {
    const notice = this.#raised.get(id)
    if (!notice) return this.#onViolation(`the notice ${id} arrived, and is not in the log`)
    const kind = String(JSON.parse(body).type).replace('.', '_')
    if (notice.url !== url || notice.kind !== kind) this.#onViolation(`the notice ${id} arrived at ${url} as ${kind}`)
    if (notice.body !== undefined && notice.body !== body)
      this.#onViolation(`the notice ${id} arrived with ${body}, and before with ${notice.body}`)
    notice.body = body
  }

  pending(): string[] {
    return [...this.#pending].map(delivery => `the notice ${delivery} was neither delivered nor abandoned`)
  }

  #raise(stream: string, number: number, { notice: { kind }, to }: Raised) {
    for (const channel of Object.keys(to)) this.#pending.add(`${stream} ${number} ${channel}`)
    if (to.url !== undefined) this.#raised.set(idOf(stream, number), { url: to.url, kind })
  }
}

interface Raised {
  notice: { kind: string }
  to: { email?: true; url?: string }
}

const idOf = (stream: string, number: number) => `${stream.replace('account-acct_', 'msg_')}_${number}`
