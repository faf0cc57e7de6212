import { type AddressInfo, Server } from 'node:net'
import { pathToFileURL } from 'node:url'
import { outsideProgram } from '../../test/support/outside.ts'

/**
 * Portkey's gateway as a process. It would listen on all interfaces, without a key, so it is made to listen on the
 * loopback interface and on any free port.
 */
const listen = Server.prototype.listen
Server.prototype.listen = function (this: Server) {
  this.once('listening', () => process.send?.({ url: `http://127.0.0.1:${(this.address() as AddressInfo).port}` }))
  return listen.call(this, { port: 0, host: '127.0.0.1' })
} as typeof listen

/**
 * Portkey adds headers to those of a vendor's stream. With its version of Hono's server these are the object that
 * `fetch` returned, which takes none, and every stream fails. So it gets a copy.
 */
const { fetch } = globalThis
globalThis.fetch = async (...request) => {
  const response = await fetch(...request)
  if (response.headers.get('content-type')?.startsWith('text/event-stream'))
    Object.defineProperty(response, 'headers', { value: new Headers(response.headers) })
  return response
}

/** Before the first chunk of each stream, Portkey waits for so long. The argument `no-wait` leaves that out. */
const WAIT_MS = 25
const { setTimeout: setTimer } = globalThis
if (process.argv[2] === 'no-wait')
  globalThis.setTimeout = Object.assign(
    (work: () => void, ms?: number, ...args: []) => setTimer(work, ms === WAIT_MS ? 0 : ms, ...args),
    setTimer,
  ) as typeof setTimeout

process.on('message', () => process.exit(0))
process.argv.push('--headless')
const [, script] = outsideProgram('portkey')
await import(pathToFileURL(script).href)
