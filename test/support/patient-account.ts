import { setTimeout as delay } from 'node:timers/promises'
import type { Balance } from '../../schemas/api/balance.ts'
import type { Run } from '../../schemas/api/run.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { type Reply, sandbox } from './client.ts'
import type { Customer } from './service.ts'
import { until } from './until.ts'

/** An acknowledged run, with its idempotency key. */
export interface AcknowledgedRun {
  key: string
  request: object
  runId: string
  acknowledgedAtMs: number
}

/** Marks the runs that `patientProvider` fails. It completes all others at once. */
const FAILING = sandbox({ prompt: 'fail' })
const COMPLETING = sandbox()

const PRICE = 1

/** One in this many requests is for a run that fails and is refunded. */
const FAILING_EVERY = 4

/** The pause between a client's requests, so that the load does not saturate the machine. */
const PAUSE_MS = 20

/** Longer than any response may take: the wait for the log, then up to 60 s for a sync run. */
const HANGS_MS = 100_000

/** Completes or fails runs at once. */
export const patientProvider: Provider = {
  submit: async ({ input }) =>
    input['prompt'] === FAILING.input.prompt
      ? { kind: 'failed', code: 'content_rejected', message: 'no' }
      : { kind: 'done', media: [], text: 'done' },
  close: async () => undefined,
}

/**
 * An account whose clients continuously request runs and the balance. A client repeats a request with the same key
 * until it is acknowledged. The only other valid response is 503, after which the run may or may not exist.
 */
export class PatientAccount {
  readonly customer: Customer
  readonly acknowledged: AcknowledgedRun[] = []
  /** All invalid responses. */
  readonly faults: string[] = []
  readonly statuses: Record<number, number> = {}
  /** Runs that a retry found already accepted. */
  found = 0
  readonly #credits: number
  #requested = 0
  /** The credits that clients were told of, for completed and for failed runs. */
  #charged = 0
  #refunded = 0

  constructor(customer: Customer, credits: number) {
    this.customer = customer
    this.#credits = credits
  }

  /** Runs a client until the signal aborts, and then until its current run is acknowledged. */
  async work(stop: AbortSignal) {
    while (!stop.aborted) {
      await this.#run()
      await this.#readBalance()
      await delay(PAUSE_MS)
    }
  }

  /** Repeats the requests of all runs that were acknowledged since a moment. */
  async repeat(sinceMs: number) {
    const recent = this.acknowledged.filter(({ acknowledgedAtMs }) => acknowledgedAtMs >= sinceMs)
    for (const { key, request, runId } of recent) {
      const reply = await this.#sendUntilAvailable(() => this.#send(key, request))
      if (reply?.body.run_id !== runId || !reply.headers.has('Idempotent-Replayed'))
        this.faults.push(`${runId} was requested again, with the response ${reply?.text}`)
    }
  }

  async #run() {
    const key = crypto.randomUUID()
    const request = this.#requested % FAILING_EVERY === FAILING_EVERY - 1 ? FAILING : COMPLETING
    this.#requested += 1
    const reply = await this.#sendUntilAvailable(() => this.#send(key, request))
    if (!reply) return
    const { run_id: runId, status, credits_refunded: refunded, error } = reply.body as Run
    const isFound = reply.headers.has('Idempotent-Replayed')
    if (isFound) this.found += 1
    this.acknowledged.push({ key, request, runId, acknowledgedAtMs: performance.now() })
    if (status === 'completed') this.#charged += PRICE
    if (status === 'failed') this.#refunded += refunded ?? 0
    // The service did not learn that the run was accepted, so it never started, and failed.
    const isInterrupted = isFound && error?.code === 'interrupted'
    const expected = request === COMPLETING ? 'completed' : 'failed'
    if (reply.status === 200 && status !== expected && !isInterrupted) this.#fault(reply, `is not ${expected}`)
  }

  async #readBalance() {
    const atMost = this.#credits - this.#charged
    const refunded = this.#refunded
    const reply = await this.#receive(() => this.customer.send<Balance>('/v1/balance', withTimeout()))
    if (reply?.status !== 200) return
    const atLeast = this.#credits - this.#requested * PRICE + refunded
    const { credits_balance: credits } = reply.body
    if (credits < atLeast || credits > atMost) this.#fault(reply, `is not from ${atLeast} to ${atMost}`)
  }

  #send(key: string, request: object) {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key }
    return this.customer.send('/v1/run', { method: 'POST', headers, body: JSON.stringify(request), ...withTimeout() })
  }

  /** Undefined for an invalid or missing response. */
  async #sendUntilAvailable(send: () => Promise<Reply>): Promise<Reply | undefined> {
    const receive = async () => {
      const reply = await this.#receive(send)
      return reply?.status !== 503 && { reply }
    }
    return (await until('the service is available', receive, { pollMs: PAUSE_MS, maxWaitMs: 2 * HANGS_MS })).reply
  }

  async #receive<Body>(send: () => Promise<Reply<Body>>): Promise<Reply<Body> | undefined> {
    const reply = await send().catch((error: Error) => error)
    if (reply instanceof Error) {
      this.faults.push(`a request was not answered: ${reply}`)
      return undefined
    }
    this.statuses[reply.status] = (this.statuses[reply.status] ?? 0) + 1
    if ([200, 202, 503].includes(reply.status)) return reply
    this.#fault(reply, 'is an unexpected response')
    return undefined
  }

  #fault({ status, text }: Pick<Reply, 'status' | 'text'>, what: string) {
    this.faults.push(`${status} ${text} ${what}`)
  }
}

const withTimeout = () => ({ signal: AbortSignal.timeout(HANGS_MS) })
