import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { Customer } from '../support/service.ts'

/** Stands before a service and adds a key to each request, for clients that cannot be told of one. */
export interface KeyedFront {
  url: string
  /** What pages on it have as their origin, by either name of the machine. */
  origins: string[]
  leadTo(customer: Customer): void
}

/** Starts a front that passes on all else as it comes, hanging up included, until the test ends. */
export const startKeyedFront = async (t: Test): Promise<KeyedFront> => {
  let customer: Customer | undefined
  const front = createServer((asked, answer) => {
    if (!customer) throw new Error('nobody has said where the front leads to')
    const { method, url, headers } = asked
    const authorization = `Bearer ${customer.apiKey}`
    const passed = request(new URL(url ?? '', customer.url), { method, headers: { ...headers, authorization } })
    passed.on('response', reply => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers).flushHeaders()
      reply.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
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
