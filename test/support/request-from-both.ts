import type { Client, Reply } from './client.ts'
import { until } from './until.ts'

/**
 * Sends run requests to several processes at once. A 503 means that another process was faster, so the request is
 * repeated.
 */
export const requestFromBoth = (clients: Client[], times: number, request: object): Promise<Reply[]> =>
  Promise.all(
    Array.from({ length: times }, (_, index) => untilDecided(clients[index % clients.length] as Client, request)),
  )

const untilDecided = (client: Client, request: object): Promise<Reply> =>
  until('the request is decided', async () => {
    const reply = await client.run(request)
    return reply.status !== 503 && reply
  })

export const count = (replies: Reply[], status: number) => replies.filter(reply => reply.status === status).length
