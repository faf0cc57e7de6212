import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { AccountEvent } from '../../schemas/account-events.ts'
import type { WebhookEvent } from '../../schemas/api/webhook.ts'
import { accountStream } from '../../schemas/events.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import type { Recorded } from '../../schemas/recorded.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { collect } from './collect.ts'
import { until } from './until.ts'

/** A received request. The body is unparsed, because the signature covers it. */
export interface Delivery {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  event: WebhookEvent
}

export type Answer = (response: ServerResponse, delivery: Delivery) => void

/** A client's webhook receiver. */
export interface Receiver {
  /** The base URL, with a trailing slash. Requests to any path below it arrive here. */
  url: string
  deliveries: Delivery[]
  /** The requests about one run. */
  deliveriesOf(runId: string): Delivery[]
  /** Resolves when this many requests have arrived. */
  until(count: number): Promise<void>
  /** Sets its response from now on. */
  answer: Answer
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  response =>
    response.writeHead(code, headers).end()

/** Reads requests without responding. */
export const hold: Answer = () => undefined

export const startReceiver = async (t: Test, answer: Answer = status(204)): Promise<Receiver> => {
  const receiver: Receiver = {
    url: '',
    deliveries: [],
    deliveriesOf: runId => receiver.deliveries.filter(({ event }) => event.data.run_id === runId),
    until: async count => {
      await until(`${count} requests have arrived`, () => receiver.deliveries.length >= count)
    },
    answer,
  }
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    let body = ''
    try {
      for await (const piece of request.setEncoding('utf8')) body += piece
    } catch {
      // The sender was killed while sending.
      return
    }
    const delivery = { method, path, headers, body, event: JSON.parse(body) }
    receiver.deliveries.push(delivery)
    receiver.answer(response, delivery)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return receiver
}

export type WebhookRecord = Recorded<Extract<AccountEvent, { type: `Webhook${string}`; data: { runId: RunId } }>>

/** The events of deliveries in the log of an account, or of one of its runs. */
export const webhookEvents = async (log: EventLog, accountId: AccountId, runId?: RunId): Promise<WebhookRecord[]> => {
  const events = (await collect(log.readStream(accountStream(accountId), 0))) as Recorded<AccountEvent>[]
  return events.filter(
    (event): event is WebhookRecord =>
      event.type.startsWith('Webhook') && 'runId' in event.data && (!runId || event.data.runId === runId),
  )
}

/** Waits until the log has this many webhook events. */
export const untilRecorded = (
  log: EventLog,
  count: number,
  accountId: AccountId,
  runId?: RunId,
): Promise<WebhookRecord[]> =>
  until(`the log has ${count} webhook events`, async () => {
    const events = await webhookEvents(log, accountId, runId)
    return events.length >= count && events
  })
