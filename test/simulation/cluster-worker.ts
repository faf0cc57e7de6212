import { setTimeout as delay } from 'node:timers/promises'
import { type Client, type Reply, sandbox } from '../support/client.ts'

/** What a worker was told of with 2xx, and what must therefore be in the log. */
export interface Told {
  runId: string
  key: string
  request: object
  /** How it ended, if that was told as well, or is the only way in which it can. */
  end: string | undefined
}

/** Longer than any answer is held, and than a cluster is without a process that answers. */
const PATIENCE_MS = 60_000

/** A client that asks for one thing after another, at one process or another, and for each of them until it is answered. */
export class ClusterWorker {
  readonly told: Told[] = []
  /** Answers that no kill explains. */
  readonly faults: string[] = []
  /** What was asked for, by kind, and how often something was asked for again. */
  readonly counts = { sync: 0, failing: 0, async: 0, cancelled: 0, replayed: 0, repeated: 0 }
  readonly #account: Client
  readonly #urls: () => string[]

  constructor(account: Client, urls: () => string[]) {
    this.#account = account
    this.#urls = urls
  }

  async work(stop: AbortSignal) {
    while (!stop.aborted) await this.#askForAnything()
  }

  async #askForAnything() {
    const dice = Math.random()
    if (dice < 0.4) await this.#run('sync', sandbox({ delay_ms: upTo(200) }))
    else if (dice < 0.5) await this.#run('failing', sandbox({ outcome: 'content_rejected' }))
    else if (dice < 0.7) await this.#run('async', job(upTo(1500)))
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
    this.told.push({ runId: body.run_id, key, request, end })
    return reply
  }

  /** Gives up a run that nothing else ends, wherever it is worked on. */
  async #cancel() {
    const run = await this.#run('cancelled', job(600_000))
    if (!run) return
    const headers = { 'Tollgate-Position': String(run.headers.get('Tollgate-Position')), Prefer: 'wait=1' }
    const { run_id: runId } = run.body
    const { status, text } = await this.#ask(client =>
      client.send(`/v1/runs/${runId}/cancel`, { method: 'POST', headers }),
    )
    // One that was cancelled without an answer has ended when it is asked for again.
    if (![200, 202, 409].includes(status)) this.faults.push(`a cancellation was answered with ${status}: ${text}`)
    for (const told of this.told) if (told.runId === runId) told.end = 'cancelled'
  }

  /** Repeats an earlier request, which must not make another run. */
  async #replay() {
    const earlier = this.told[upTo(this.told.length)]
    if (!earlier) return
    const reply = await this.#run('replayed', earlier.request, earlier.key)
    if (!reply) return
    if (reply.body.run_id !== earlier.runId)
      this.faults.push(`${earlier.runId} became ${reply.body.run_id} when repeated`)
    if (!reply.headers.has('Idempotent-Replayed'))
      this.faults.push(`${earlier.runId} was not said to be an earlier run`)
  }

  async #ask(send: (client: Client) => Promise<Reply>): Promise<Reply> {
    const untilMs = performance.now() + PATIENCE_MS
    while (true) {
      const urls = this.#urls()
      const answer = await send(this.#account.at(urls[upTo(urls.length)] as string)).catch((error: Error) => error)
      if (!(answer instanceof Error) && answer.status !== 503) return answer
      if (performance.now() > untilMs)
        throw new Error(`no process answers: ${answer instanceof Error ? answer.message : answer.text}`)
      this.counts.repeated++
      await delay(100)
    }
  }
}

const upTo = (most: number) => Math.floor(Math.random() * most)

/** A run that is worked on for some time while nobody waits for it. */
const job = (delayMs: number) => ({
  model: 'sandbox',
  input: { prompt: 'hello', image_url: 'none', delay_ms: delayMs },
})
