import { setTimeout as delay } from 'node:timers/promises'
import type { Balance } from '../../schemas/api/balance.ts'
import type { RunList } from '../../schemas/api/run.ts'
import { type Reply, type Sending, sandbox } from './client.ts'
import type { Customer } from './service.ts'
import { isLong } from './test-length.ts'

/** The outcome of a request. */
export interface Answered {
  kind: 'read' | 'write'
  status: number
  sentAtMs: number
}

interface AcceptedRun {
  runId: string
  isJob: boolean
  fails: boolean
  /** As reported to the client. */
  hasEnded: boolean
}

interface PendingRequest {
  /** The idempotency key for all attempts. */
  key: string
  request: object
}

export interface SteadyClientDependencies {
  customer: Customer
  credits: number
  /** The process that the client uses, or several to choose from. */
  urls: string[]
  webhookUrl: string
}

/** The pause between rounds, so that the load does not saturate the machine. */
const PAUSE_MS = isLong ? 40 : 100

/** Far longer than any response may take. */
const HANGS_MS = 20_000

/** When all runs must have ended, including those whose process was lost. */
const SETTLES_MS = 60_000

/** How many of the newest runs the client lists. */
const LISTED = 5

const PRICE = 1

/**
 * A customer that sends one request after another, and so always knows the only correct response. The only other valid
 * one is 503, after which nothing has happened. With several processes, it sends the position of its last write.
 */
export class SteadyClient {
  readonly customer: Customer
  credits: number
  /** All invalid responses. */
  readonly faults: string[] = []
  readonly answered: Answered[] = []
  readonly accepted: AcceptedRun[] = []
  readonly #urls: string[]
  readonly #job: object
  #position: string | undefined
  #unanswered: PendingRequest | undefined
  #rounds = 0

  constructor({ customer, credits, urls, webhookUrl }: SteadyClientDependencies) {
    this.customer = customer
    this.credits = credits
    this.#urls = urls
    this.#job = {
      model: 'sandbox',
      input: { prompt: 'a job', image_url: 'none', delay_ms: 200 },
      webhook_url: webhookUrl,
    }
  }

  answersSince(sinceMs: number): Answered[] {
    return this.answered.filter(({ sentAtMs }) => sentAtMs > sinceMs)
  }

  async work(stop: AbortSignal) {
    while (!stop.aborted) {
      await this.#write()
      await this.#readBalance()
      await (this.#rounds++ % 2 === 0 ? this.#readList() : this.#readRun(this.#someRun()))
      await delay(PAUSE_MS)
    }
  }

  /** Continues until the last request is answered, all runs have ended, and the balance has been checked. */
  async settle() {
    const stop = AbortSignal.timeout(SETTLES_MS)
    const until = async (isDone: () => boolean, send: () => Promise<unknown>) => {
      while (!isDone() && !stop.aborted) {
        await send()
        await delay(PAUSE_MS)
      }
    }
    const isAnswered = () => !this.#unanswered
    await until(isAnswered, () => this.#write())
    for (const run of this.accepted) {
      const hasEnded = () => run.hasEnded
      await until(hasEnded, () => this.#readRun(run))
    }
    const { length } = this.answered
    const isSeen = () => this.answered.length > length && this.answered.at(-1)?.status === 200
    await until(isSeen, () => this.#readBalance())
    if (stop.aborted) this.faults.push(`not settled within ${SETTLES_MS} ms`)
  }

  async #write() {
    this.#unanswered ??= { key: crypto.randomUUID(), request: this.#nextRequest() }
    const { key, request } = this.#unanswered
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key }
    const reply = await this.#send('/v1/run', { method: 'POST', headers, body: JSON.stringify(request) })
    if (!reply) return
    if (reply.headers.has('Idempotent-Replayed')) this.#fault(reply, 'the earlier response was 503')
    const run = { runId: reply.body.run_id, isJob: request === this.#job, fails: request === failing, hasEnded: false }
    this.accepted.push(run)
    this.credits -= PRICE
    this.#position = reply.headers.get('Tollgate-Position') ?? undefined
    this.#unanswered = undefined
    this.#look(run, reply)
  }

  #nextRequest(): object {
    return [sandbox(), this.#job, sandbox({ delay_ms: 50 }), failing][this.accepted.length % 4] as object
  }

  async #readBalance() {
    const reply = await this.#send<Balance>('/v1/balance')
    if (!reply) return
    // Open refunds may have been made by now.
    const refunds = this.accepted.filter(({ fails, hasEnded }) => fails && !hasEnded).length * PRICE
    const { credits_balance: credits } = reply.body
    if (credits < this.credits || credits > this.credits + refunds) this.#fault(reply, `the balance is ${this.credits}`)
  }

  async #readList() {
    const reply = await this.#send<RunList>(`/v1/runs?limit=${LISTED}`)
    if (!reply) return
    const expected = this.accepted.slice(-LISTED).reverse()
    if (reply.body.data.map(run => run.run_id).join() !== expected.map(run => run.runId).join())
      this.#fault(reply, `the last runs are ${expected.map(run => run.runId)}`)
  }

  async #readRun(run: AcceptedRun | undefined) {
    const reply = run && (await this.#send(`/v1/runs/${run.runId}`))
    if (reply) this.#look(run, reply)
  }

  #someRun() {
    return this.accepted[Math.floor(Math.random() * this.accepted.length)]
  }

  #look(run: AcceptedRun, reply: Reply) {
    const { run_id, status, credits_refunded: refunded } = reply.body
    const hasEnded = status === 'completed' || status === 'failed'
    const isRight = !hasEnded || (run.fails ? status === 'failed' && refunded === PRICE : status === 'completed')
    if (run_id !== run.runId || !isRight) this.#fault(reply, `${run.runId} ${run.fails ? 'fails' : 'does not fail'}`)
    if (!hasEnded && run.hasEnded) this.#fault(reply, `${run.runId} has ended`)
    if (!hasEnded || run.hasEnded) return
    run.hasEnded = true
    if (run.fails) this.credits += PRICE
  }

  /** Undefined without a response. */
  async #send<Body = Reply['body']>(path: string, sending: Sending = {}): Promise<Reply<Body> | undefined> {
    const url = this.#urls[Math.floor(Math.random() * this.#urls.length)] as string
    const kind = sending.method === 'POST' ? 'write' : 'read'
    const position: Record<string, string> =
      kind === 'read' && this.#position && this.#urls.length > 1 ? { 'Tollgate-Position': this.#position } : {}
    const sentAtMs = performance.now()
    try {
      const headers = { ...sending.headers, ...position }
      const signal = AbortSignal.timeout(HANGS_MS)
      const reply = await this.customer.at(url).send<Body>(path, { ...sending, headers, signal })
      const { status } = reply
      this.answered.push({ kind, status, sentAtMs })
      if (status === 200 || (kind === 'write' && status === 202)) return reply
      const isNotNow = status === 503 && reply.headers.has('Retry-After') && reply.text.includes('"unavailable"')
      if (!isNotNow) this.#fault(reply, `nothing is wrong with ${path}`)
    } catch (error) {
      this.faults.push(`${path} is not answered: ${error}`)
    }
    return undefined
  }

  #fault({ status, text }: Pick<Reply, 'status' | 'text'>, but: string) {
    this.faults.push(`${status} ${text}, but ${but}`)
  }
}

const failing = sandbox({ outcome: 'content_rejected' })
