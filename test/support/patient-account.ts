import { setTimeout as delay } from 'node:timers/promises'
import type { Balance } from '../../schemas/api/balance.ts'
import type { Run } from '../../schemas/api/run.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { type Reply, sandbox } from './client.ts'
import type { Customer } from './service.ts'

/** A run that was acknowledged, with the key under which it was asked for. */
export interface ToldRun {
  key: string
  request: object
  runId: string
  toldAtMs: number
}

/** What the provider of `patientProvider` fails. The rest it completes at once. */
const FAILING = sandbox({ prompt: 'fail' })
const COMPLETING = sandbox()

const PRICE = 1

/** Of so many requests one is for a run that fails and is refunded. */
const FAILING_EVERY = 4

/** Between two requests of a client, so that the load is not all that the machine can take. */
const PAUSE_MS = 20

/** Longer than any answer may take: the log is waited for, and then a sync run is held for 60 s. */
const HANGS_MS = 100_000

/** Does the work at once, or fails at once. */
export const patientProvider: Provider = {
  submit: async ({ input }) =>
    input['prompt'] === FAILING.input.prompt
      ? { kind: 'failed', code: 'content_rejected', message: 'no' }
      : { kind: 'done', media: [], text: 'done' },
  close: async () => undefined,
}

/**
 * An account whose clients ask for runs and for the balance all the time. A run is asked for under one key until it is
 * acknowledged. Of other answers only 503 is right, and that leaves open whether the run was accepted.
 */
export class PatientAccount {
  readonly customer: Customer
  readonly told: ToldRun[] = []
  /** Each answer that was not right. */
  readonly faults: string[] = []
  readonly statuses: Record<number, number> = {}
  /** Runs that were found accepted when they were asked for again. */
  found = 0
  readonly #credits: number
  #asked = 0
  /** What the clients were told of: credits for runs that completed, and for those that failed. */
  #charged = 0
  #refunded = 0

  constructor(customer: Customer, credits: number) {
    this.customer = customer
    this.#credits = credits
  }

  /** A client, until the signal aborts. The run that it asks for then is asked for until it is acknowledged. */
  async work(stop: AbortSignal) {
    while (!stop.aborted) {
      await this.#run()
      await this.#readBalance()
      await delay(PAUSE_MS)
    }
  }

  /** Asks once more, with their keys, for all runs that were acknowledged since a moment. */
  async repeat(sinceMs: number) {
    for (const { key, request, runId } of this.told.filter(({ toldAtMs }) => toldAtMs >= sinceMs)) {
      const reply = await this.#ask(() => this.#send(key, request))
      if (reply?.body.run_id !== runId || !reply.headers.has('Idempotent-Replayed'))
        this.faults.push(`${runId} was asked for again, and the answer is ${reply?.text}`)
    }
  }

  async #run() {
    const key = crypto.randomUUID()
    const request = this.#asked % FAILING_EVERY === FAILING_EVERY - 1 ? FAILING : COMPLETING
    this.#asked += 1
    const reply = await this.#ask(() => this.#send(key, request))
    if (!reply) return
    const { run_id: runId, status, credits_refunded: refunded, error } = reply.body as Run
    const isFound = reply.headers.has('Idempotent-Replayed')
    if (isFound) this.found += 1
    this.told.push({ key, request, runId, toldAtMs: performance.now() })
    if (status === 'completed') this.#charged += PRICE
    if (status === 'failed') this.#refunded += refunded ?? 0
    // Nobody worked on a run of which the service did not learn that it was accepted, so it was given up.
    const isGivenUp = isFound && error?.code === 'interrupted'
    const wanted = request === COMPLETING ? 'completed' : 'failed'
    if (reply.status === 200 && status !== wanted && !isGivenUp) this.#fault(reply, `is not ${wanted}`)
  }

  async #readBalance() {
    const atMost = this.#credits - this.#charged
    const refunded = this.#refunded
    const reply = await this.#take(() => this.customer.send<Balance>('/v1/balance', until()))
    if (reply?.status !== 200) return
    const atLeast = this.#credits - this.#asked * PRICE + refunded
    const { credits_balance: credits } = reply.body
    if (credits < atLeast || credits > atMost) this.#fault(reply, `is not from ${atLeast} to ${atMost}`)
  }

  #send(key: string, request: object) {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key }
    return this.customer.send('/v1/run', { method: 'POST', headers, body: JSON.stringify(request), ...until() })
  }

  /** Undefined where the answer, or that there is none, is a fault. */
  async #ask(send: () => Promise<Reply>): Promise<Reply | undefined> {
    while (true) {
      const reply = await this.#take(send)
      if (reply?.status !== 503) return reply
      await delay(PAUSE_MS)
    }
  }

  async #take<Body>(send: () => Promise<Reply<Body>>): Promise<Reply<Body> | undefined> {
    const reply = await send().catch((error: Error) => error)
    if (reply instanceof Error) {
      this.faults.push(`a request was not answered: ${reply}`)
      return undefined
    }
    this.statuses[reply.status] = (this.statuses[reply.status] ?? 0) + 1
    if ([200, 202, 503].includes(reply.status)) return reply
    this.#fault(reply, 'is no answer to expect')
    return undefined
  }

  #fault({ status, text }: Pick<Reply, 'status' | 'text'>, what: string) {
    this.faults.push(`${status} ${text} ${what}`)
  }
}

const until = () => ({ signal: AbortSignal.timeout(HANGS_MS) })
