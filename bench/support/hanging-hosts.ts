import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

/** Addresses of this machine, each of which counts as a host. */
const HOSTS = 20

/** A server that accepts connections and never answers, at several addresses. */
export const startHangingHosts = async () => {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket.on('error', () => undefined).resume())
  }).listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    /** The URL of a picture at one of the hosts, which take turns. */
    urlOf: (index: number) => `http://127.0.1.${1 + (index % HOSTS)}:${port}/a.png`,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
