import { type StubEvent, signatureOf } from './events.ts'

/** Stripe tries for three days; the stub for seconds: https://docs.stripe.com/webhooks#retries */
const RETRY_MS = [50, 100, 200, 400, 800, 1600]

/** https://docs.stripe.com/webhooks#acknowledge-events-immediately */
const TIMEOUT_MS = 10_000

export interface Attempt {
  event: StubEvent
  /** Undefined if no answer came. */
  status: number | undefined
}

interface Sent {
  /** How old the signature is. */
  ageSeconds?: number
  /** Other secrets than those of the endpoint; none for an unsigned request. */
  secrets?: readonly string[]
  /** Changes the body after it was signed. */
  forge?: (body: string) => string
}

/** An endpoint of ours, to which events are posted in any order, late or several times. */
export class WebhookSender {
  readonly attempts: Attempt[] = []
  /** Two while a secret is rolled: https://docs.stripe.com/webhooks#roll-endpoint-secrets */
  secrets: string[]
  /** Keeps events until `release`. */
  isHeld = false
  /** How often each event is sent. */
  times = 1
  readonly #url: string
  readonly #queue: StubEvent[] = []
  readonly #sending = new Set<Promise<void>>()
  #isClosed = false

  constructor(url: string, ...secrets: string[]) {
    this.#url = url
    this.secrets = secrets
  }

  get held(): readonly StubEvent[] {
    return this.#queue
  }

  push(event: StubEvent) {
    if (this.isHeld) this.#queue.push(event)
    else for (let time = 0; time < this.times; time++) this.#begin(event)
  }

  /** Sends what was kept, in an order of the test's choice. Sends later events at once again, unless `isHeld` stays. */
  release(order: (events: StubEvent[]) => StubEvent[] = events => events) {
    this.isHeld = false
    for (const event of order(this.#queue.splice(0))) this.push(event)
  }

  /** Resolves when nothing is being sent, and no retry waits. */
  async settled() {
    while (this.#sending.size > 0) await Promise.all(this.#sending)
  }

  /** Posts an event once. Resolves to the status; undefined without an answer. */
  async post(event: StubEvent, { ageSeconds = 0, secrets = this.secrets, forge = body => body }: Sent = {}) {
    const body = JSON.stringify(event, null, 2)
    const at = Math.floor(Date.now() / 1000) - ageSeconds
    const signed = secrets.length > 0 && { 'Stripe-Signature': signatureOf(body, secrets, at) }
    const headers = { 'Content-Type': 'application/json; charset=utf-8', 'User-Agent': 'Stripe/1.0', ...signed }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const status = await fetch(this.#url, {
      method: 'POST',
      headers,
      body: forge(body),
      signal,
      redirect: 'manual',
    }).then(
      async response => {
        await response.arrayBuffer()
        return response.status
      },
      () => undefined,
    )
    this.attempts.push({ event, status })
    return status
  }

  /** Sends nothing more. */
  close() {
    this.#isClosed = true
  }

  #begin(event: StubEvent) {
    const sending = this.#send(event).finally(() => this.#sending.delete(sending))
    this.#sending.add(sending)
  }

  async #send(event: StubEvent) {
    for (const waitMs of [...RETRY_MS, undefined]) {
      const status = await this.post(event)
      if ((status !== undefined && status >= 200 && status < 300) || waitMs === undefined || this.#isClosed) return
      await new Promise(resolve => setTimeout(resolve, waitMs))
    }
  }
}
