import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Clients that send requests and reset their connections, as fast as they can. */
export interface CutOffs {
  url: string
  clients: number
  seconds: number
  /** The bytes of each request, by its index. */
  request: (index: number) => Buffer
}

/** How long the clients wait before they reset a connection once all was handed over: not at all, or for a while. */
const WAITS_MS = [0, 0, 1, 5, 20, 50]

/** Resolves to the number of requests that were cut off. */
export const cutOff = async ({ url, clients, seconds, request }: CutOffs): Promise<number> => {
  const port = Number(new URL(url).port)
  const untilMs = performance.now() + seconds * 1_000
  let requests = 0
  const client = async (_: unknown, at: number) => {
    const localAddress = `127.0.0.${2 + (at % 8)}`
    while (performance.now() < untilMs) {
      const index = requests++
      const socket = connect({ host: '127.0.0.1', port, localAddress })
      const closed = once(socket, 'close').catch(() => undefined)
      // The service may refuse an attack as it likes.
      socket.on('error', () => undefined)
      // Half of the answers are read until then.
      if (index % 2 === 0) socket.resume()
      const sent = new Promise<unknown>(resolve => socket.write(request(index), resolve))
      await Promise.race([sent, closed, delay(1_000)])
      const waitMs = WAITS_MS[index % WAITS_MS.length] ?? 0
      if (waitMs > 0) await delay(waitMs)
      socket.resetAndDestroy()
      await closed
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return requests
}
