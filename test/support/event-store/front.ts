import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A TCP proxy in front of a server. Connections break and fall silent below the protocol, so this simulates it there.
 */
export interface Front {
  port: number
  /** Breaks the connection that the server knows by this address. */
  breakOff(peer: string): void
  /** Breaks all connections, but accepts new ones. */
  dropConnections(): void
  /**
   * Like a stopped process: no byte passes, no connection closes, and the kernel accepts new ones without answering.
   * Bytes sent meanwhile pass afterwards.
   */
  silence(silent: boolean): void
  /** Breaks all connections, and refuses new ones. */
  close(): void
}

export const openFront = async (server: number, port = 0): Promise<Front> => {
  /** The sockets of clients, by the port that the server sees. */
  const joined = new Map<number, [client: Socket, upstream: Socket]>()
  const clients = new Set<Socket>()
  /** Connections accepted during silence. */
  const waiting = new Set<Socket>()
  let isSilent = false

  const join = (client: Socket) => {
    const upstream = connect({ port: server, host: '127.0.0.1', noDelay: true }, () => {
      if (client.destroyed) return upstream.destroy()
      joined.set(upstream.localPort as number, [client, upstream])
      if (!isSilent) for (const socket of [client, upstream]) socket.resume()
    })
    upstream.pause()
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', data => {
        if (!to.write(data)) from.pause()
      })
      to.on('drain', () => isSilent || from.resume())
      from.on('close', () => {
        // Data sent before the end still passes.
        to.destroySoon()
        for (const [port, pair] of joined) if (pair.includes(from)) joined.delete(port)
      })
    }
    upstream.on('error', () => client.destroy())
  }

  const listener = createServer({ noDelay: true, pauseOnConnect: true }, client => {
    client.on('error', () => client.destroy())
    client.on('close', () => {
      clients.delete(client)
      waiting.delete(client)
    })
    clients.add(client)
    if (isSilent) waiting.add(client)
    else join(client)
  })
  listener.listen(port, '127.0.0.1')
  await once(listener, 'listening')

  const dropConnections = () => {
    for (const socket of [...clients, ...[...joined.values()].flat()]) socket.destroy()
  }
  return {
    port: (listener.address() as AddressInfo).port,
    breakOff: peer => {
      for (const socket of joined.get(Number(peer.slice(peer.lastIndexOf(':') + 1))) ?? []) socket.destroy()
    },
    dropConnections,
    silence: silent => {
      isSilent = silent
      for (const socket of [...joined.values()].flat()) silent ? socket.pause() : socket.resume()
      if (silent) return
      for (const client of waiting) join(client)
      waiting.clear()
    },
    close: () => {
      listener.close()
      dropConnections()
    },
  }
}
