import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { until } from './until.ts'

/** The steps at which a vendor can misbehave: before and after it accepts a job, and on polls. */
export type Step = 'asked' | 'taken' | 'polled' | 'copied' | 'cancelled'

/** How it misbehaves: holds the response back, breaks the connection, or returns a status. */
export interface Fault {
  step: Step
  act: 'hold' | 'lose' | number
  /** How many times in a row; once by default. */
  times?: number
}

/** A client's request. */
export interface Order {
  prompt: string
  num_images?: number
  workMs: number
  result: 'text' | 'media'
  faults: Fault[]
}

/** The job of an idempotency key. */
export interface Tally {
  submissions: number
  jobs: number
  polls: number
  copies: number
  cancellations: number
  /** The number of responses held back, by step. */
  held: Partial<Record<Step, number>>
}

/** A job's status for polls. */
export type JobReport =
  | { status: 'working'; progress: number }
  | { status: 'cancelled' }
  | { status: 'done'; text: string }
  | { status: 'done'; mediaUrl: string }

/** The pixels of every result. */
export const MEDIA = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

interface Job {
  key: string
  order: Order
  begunAtMs: number
  isCancelled: boolean
}

/** A model vendor with an HTTP interface: jobs by idempotency key, and configurable faults. */
export class Vendor {
  readonly #jobs = new Map<string, Job>()
  readonly #orders = new Map<string, Order>()
  readonly #tallies = new Map<string, Tally>()
  readonly #visits = new Map<string, number>()
  readonly #held = new Set<() => void>()
  readonly #server = createServer((request, response) => {
    // A killed client's connections break.
    this.#answer(request, response).catch(() => response.destroy())
  })

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this.url
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The job of a key; undefined for an unused key. */
  tally(key: string): Tally | undefined {
    return this.#tallies.get(key)
  }

  /** Resolves when this many responses are held back. */
  async holds(count: number) {
    await until(`${count} responses are held`, () => this.#held.size >= count)
  }

  /** Releases all held responses, and does not hold their orders again. */
  release() {
    for (const { faults } of this.#orders.values())
      for (const fault of faults) if (fault.act === 'hold') fault.times = 0
    for (const release of this.#held) release()
  }

  async close() {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(request: IncomingMessage, response: ServerResponse) {
    const [, room, id = ''] = (request.url ?? '').split('/')
    if (request.method === 'POST') return this.#take(request, response)
    const job = this.#jobs.get(id)
    if (!job) return reply(response, 404, { message: 'There is no such job.' })
    const tally = this.#tallyOf(job.key)
    if (room === 'media') {
      tally.copies += 1
      if (await this.#misbehaves('copied', job.key, response)) return
      response.setHeader('Content-Type', 'image/png').end(MEDIA)
    } else if (request.method === 'DELETE') {
      tally.cancellations += 1
      if (await this.#misbehaves('cancelled', job.key, response)) return
      job.isCancelled = true
      reply(response, 200, {})
    } else {
      tally.polls += 1
      if (await this.#misbehaves('polled', job.key, response)) return
      reply(response, 200, this.#report(id, job))
    }
  }

  async #take(request: IncomingMessage, response: ServerResponse) {
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    const key = String(request.headers['idempotency-key'])
    const order = this.#orders.get(key) ?? (JSON.parse(body) as Order)
    this.#orders.set(key, order)
    const tally = this.#tallyOf(key)
    tally.submissions += 1
    if (await this.#misbehaves('asked', key, response)) return
    const id = `job-${key}`
    if (!this.#jobs.has(id)) {
      tally.jobs += 1
      this.#jobs.set(id, { key, order, begunAtMs: Date.now(), isCancelled: false })
    }
    if (await this.#misbehaves('taken', key, response)) return
    reply(response, 200, { id })
  }

  #report(id: string, { order, begunAtMs, isCancelled }: Job): JobReport {
    if (isCancelled) return { status: 'cancelled' }
    const progress = order.workMs === 0 ? 1 : (Date.now() - begunAtMs) / order.workMs
    if (progress < 1) return { status: 'working', progress }
    if (order.result === 'media') return { status: 'done', mediaUrl: `${this.url}/media/${id}` }
    return { status: 'done', text: order.prompt }
  }

  /** Whether to skip the response. Held responses resume when released. */
  async #misbehaves(step: Step, key: string, response: ServerResponse): Promise<boolean> {
    const visit = `${step} ${key}`
    const times = (this.#visits.get(visit) ?? 0) + 1
    this.#visits.set(visit, times)
    const fault = this.#orders.get(key)?.faults.find(each => each.step === step && times <= (each.times ?? 1))
    if (!fault) return false
    if (fault.act === 'hold') {
      const { held } = this.#tallyOf(key)
      held[step] = (held[step] ?? 0) + 1
      let release = () => {}
      const released = new Promise<void>(resolve => {
        release = resolve
      })
      this.#held.add(release)
      await Promise.race([released, once(response, 'close')])
      this.#held.delete(release)
      return response.destroyed
    }
    if (fault.act === 'lose') response.destroy()
    else reply(response, fault.act, { message: `The order says ${fault.act}.` })
    return true
  }

  #tallyOf(key: string): Tally {
    let tally = this.#tallies.get(key)
    if (!tally) {
      tally = { submissions: 0, jobs: 0, polls: 0, copies: 0, cancellations: 0, held: {} }
      this.#tallies.set(key, tally)
    }
    return tally
  }
}

/** A vendor in this process, until the test ends. */
export const startVendor = async (t: Test): Promise<Vendor> => {
  const vendor = new Vendor()
  await vendor.listen()
  t.teardown(() => vendor.close())
  return vendor
}

const reply = (response: ServerResponse, status: number, body: object) => {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
