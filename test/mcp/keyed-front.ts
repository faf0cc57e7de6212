import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { Customer } from '../support/service.ts'

/** A proxy that adds a key to each request, for clients that cannot send one. */
export interface KeyedFront {
  url: string
  /** The origins of pages on the proxy, by either host name. */
  origins: string[]
  leadTo(customer: Customer): void
}

/** Starts a proxy until the test ends. It forwards everything else unchanged, including disconnects. */
export const startKeyedFront = async (t: Test): Promise<KeyedFront> => {
  let customer: Customer | undefined
  const front = createServer((incoming, answer) => {
    if (!customer) throw new Error('the proxy has no customer yet')
    const { method, url, headers } = incoming
    const authorization = `Bearer ${customer.apiKey}`
    const forwarded = request(new URL(url ?? '', customer.url), { method, headers: { ...headers, authorization } })
    forwarded.on('response', reply => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers).flushHeaders()
      reply.pipe(answer)
    })
    forwarded.on('error', () => answer.destroy())
    answer.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  t.teardown(() => {
    front.close()
    front.closeAllConnections()
  })
  const { port } = front.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    origins: [`http://127.0.0.1:${port}`, `http://localhost:${port}`],
    leadTo: to => {
      customer = to
    },
  }
}
