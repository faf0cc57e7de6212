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

process.on('message', () => process.exit(0))
process.argv.push('--headless')
const [, script] = outsideProgram('portkey')
await import(pathToFileURL(script).href)
