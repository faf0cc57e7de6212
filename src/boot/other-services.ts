import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** The system's limit is 104 bytes on macOS, and 108 on Linux. */
const MAX_PATH_BYTES = 100

/** How long another process may take to accept a connection. */
const CONNECT_MS = 1000

/**
 * Finds other services on the same data folder, and lets them find this one. Calls `onOther` for each other service,
 * including services that start later. Each service listens on a socket in the folder: the system closes the socket
 * when the process ends.
 */
export const meetOtherServices = async (dataDir: string, onOther: () => void): Promise<void> => {
  const folder = relative('', join(dataDir, 'services'))
  const own = `${randomBytes(4).toString('hex')}.sock`
  if (Buffer.byteLength(join(folder, own)) > MAX_PATH_BYTES) return
  try {
    mkdirSync(folder, { recursive: true })
    await listen(join(folder, own), onOther)
    const others = readdirSync(folder).filter(name => name.endsWith('.sock') && name !== own)
    const met = await Promise.all(others.map(name => meet(join(folder, name))))
    if (met.includes(true)) onOther()
  } catch {
    // Not every file system has sockets.
  }
}

const listen = (path: string, onOther: () => void): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer(socket => {
      socket.destroy()
      onOther()
    })
    server.once('error', reject)
    // Not through the process that started the workers, which takes a socket of theirs for the service's.
    server.listen({ path, exclusive: true }, () => resolve(server.unref()))
  })

/** Whether a service listens there. Deletes the socket of a process that was killed. */
const meet = (path: string): Promise<boolean> => {
  const connected = new Promise<boolean>(resolve => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') rmSync(path, { force: true })
      resolve(false)
    })
  })
  return Promise.race([connected, delay(CONNECT_MS, false, { ref: false })])
}
