import { setTimeout as delay } from 'node:timers/promises'
import { type Client, type Reply, sandbox } from '../support/client.ts'

/** A run that a worker got a 2xx answer for, and that must therefore be in the log. */
export interface AnsweredRun {
  runId: string
  key: string
  request: object
  /** The outcome of the run, if the answer states it or only one is possible. */
  end: string | undefined
}

/** Longer than any answer takes and than the cluster can be without a running process. */
const PATIENCE_MS = 60_000

/** A client that sends one request after another to random processes and repeats each until it is answered. */
export class ClusterWorker {
  readonly answered: AnsweredRun[] = []
  /** Answers that kills do not explain. */
  readonly faults: string[] = []
  /** The number of requests by kind, and of repeated attempts. */
  readonly counts = { sync: 0, failing: 0, async: 0, cancelled: 0, replayed: 0, repeated: 0 }
  readonly #account: Client
  readonly #urls: () => string[]
  readonly #random: () => number

  constructor(account: Client, urls: () => string[], random: () => number) {
    this.#account = account
    this.#urls = urls
    this.#random = random
  }

  async work(stop: AbortSignal) {
    while (!stop.aborted) await this.#sendRandomRequest()
  }

  async #sendRandomRequest() {
    const dice = this.#random()
    if (dice < 0.4) await this.#run('sync', sandbox({ delay_ms: this.#upTo(200) }))
    else if (dice < 0.5) await this.#run('failing', sandbox({ outcome: 'content_rejected' }))
    else if (dice < 0.7) await this.#run('async', job(this.#upTo(1500)))
    else if (dice < 0.85) await this.#cancel()
    else await this.#replay()
  }

  async #run(
    kind: keyof typeof this.counts,
    request: object,
    key: string = crypto.randomUUID(),
  ): Promise<Reply | undefined> {
    const reply = await this.#ask(client => client.run(request, { 'Idempotency-Key': key, Prefer: 'wait=1' }))
    const { status, text, body } = reply
    if (status !== 200 && status !== 202) {
      this.faults.push(`a ${kind} run was answered with ${status}: ${text}`)
      return undefined
    }
    this.counts[kind]++
    const end = status === 200 ? (body.error?.code ?? body.status) : undefined
    this.answered.push({ runId: body.run_id, key, request, end })
    return reply
  }

  /** Cancels a long run, whichever process works on it. */
  async #cancel() {
    const run = await this.#run('cancelled', job(600_000))
    if (!run) return
    const headers = { 'Tollgate-Position': String(run.headers.get('Tollgate-Position')), Prefer: 'wait=1' }
    const { run_id: runId } = run.body
    const { status, text } = await this.#ask(client =>
      client.send(`/v1/runs/${runId}/cancel`, { method: 'POST', headers }),
    )
    // A repeated cancellation finds the run ended if the first answer was lost.
    if (![200, 202, 409].includes(status)) this.faults.push(`a cancellation was answered with ${status}: ${text}`)
    for (const answered of this.answered) if (answered.runId === runId) answered.end = 'cancelled'
  }

  /** Repeats an earlier request, which must return the same run. */
  async #replay() {
    const earlier = this.answered[this.#upTo(this.answered.length)]
    if (!earlier) return
    const reply = await this.#run('replayed', earlier.request, earlier.key)
    if (!reply) return
    if (reply.body.run_id !== earlier.runId)
      this.faults.push(`${earlier.runId} became ${reply.body.run_id} when repeated`)
    if (!reply.headers.has('Idempotent-Replayed')) this.faults.push(`${earlier.runId} was not marked as replayed`)
  }

  #upTo(most: number): number {
    return Math.floor(this.#random() * most)
  }

  async #ask(send: (client: Client) => Promise<Reply>): Promise<Reply> {
    const untilMs = performance.now() + PATIENCE_MS
    while (true) {
      const urls = this.#urls()
      const answer = await send(this.#account.at(urls[this.#upTo(urls.length)] as string)).catch(
        (error: Error) => error,
      )
      if (!(answer instanceof Error) && answer.status !== 503) return answer
      if (performance.now() > untilMs)
        throw new Error(`no process answers: ${answer instanceof Error ? answer.message : answer.text}`)
      this.counts.repeated++
      await delay(100)
    }
  }
}

/** An async run that takes `delayMs`. */
const job = (delayMs: number) => ({
  model: 'sandbox',
  input: { prompt: 'hello', image_url: 'none', delay_ms: delayMs },
})
