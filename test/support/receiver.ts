import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import type { AccountEvent } from '../../schemas/account-events.ts'
import type { WebhookEvent } from '../../schemas/api/webhook.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import { accountStream, type Recorded } from '../../schemas/recorded.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { collect } from './collect.ts'

/** What came to a receiver. The body is kept as it came, since that is what was signed. */
export interface Told {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  event: WebhookEvent
}

export type Answer = (response: ServerResponse, told: Told) => void

/** Where a client has itself told of the ends of its runs. */
export interface Receiver {
  /** Ends with a slash; whatever comes behind it arrives here too. */
  url: string
  told: Told[]
  /** Those that were about one run. */
  toldOf(runId: string): Told[]
  /** Resolves when so many have come. */
  until(count: number): Promise<void>
  /** How it answers from now on. */
  answer: Answer
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  response =>
    response.writeHead(code, headers).end()

/** Takes what comes, and leaves the sender waiting. */
export const hold: Answer = () => undefined

export const startReceiver = async (t: Test, answer: Answer = status(204)): Promise<Receiver> => {
  const arrivals = new Set<() => void>()
  const receiver: Receiver = {
    url: '',
    told: [],
    toldOf: runId => receiver.told.filter(({ event }) => event.data.run_id === runId),
    until: async count => {
      while (receiver.told.length < count) await new Promise<void>(resolve => arrivals.add(resolve))
    },
    answer,
  }
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    let body = ''
    try {
      for await (const piece of request.setEncoding('utf8')) body += piece
    } catch {
      // The sender was killed in the middle of it.
      return
    }
    const told = { method, path, headers, body, event: JSON.parse(body) }
    receiver.told.push(told)
    receiver.answer(response, told)
    for (const arrived of arrivals) arrived()
    arrivals.clear()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return receiver
}

export type WebhookRecord = Recorded<Extract<AccountEvent, { type: `Webhook${string}` }>>

/** What the log says that receivers were told of one account's runs, or of one of them. */
export const webhookEvents = async (log: EventLog, accountId: AccountId, runId?: RunId): Promise<WebhookRecord[]> => {
  const events = (await collect(log.readStream(accountStream(accountId), 0))) as Recorded<AccountEvent>[]
  return events.filter(
    (event): event is WebhookRecord =>
      event.type.startsWith('Webhook') && (!runId || (event as WebhookRecord).data.runId === runId),
  )
}

/** Waits until the log has so many of them. */
export const untilRecorded = async (
  log: EventLog,
  count: number,
  accountId: AccountId,
  runId?: RunId,
): Promise<WebhookRecord[]> => {
  while (true) {
    const events = await webhookEvents(log, accountId, runId)
    if (events.length >= count) return events
    await delay(POLL_MS)
  }
}

/** Short beside what is waited for. */
const POLL_MS = 10
