import { createServer, type Server } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { shipped } from '../catalog/shipped.ts'
import { publishShipped } from '../services/catalog/catalog-editor.ts'
import { openService } from './compose.ts'
import type { Core, Substitutes } from './core.ts'

/** After work in progress has ended, connections have so long to take their answers. */
const LAST_ANSWERS_MS = 2000

/** How long the views may take to show a new catalog, before the start is given up. */
const CATCH_UP_MS = 30_000

export interface RunningServer {
  /** How clients reach the service, without a slash at the end. */
  url: string
  port: number
  stop(): Promise<void>
}

/** Starts the service on a core. Rejects when the port cannot be had. */
export const startServer = async (core: Core, substitutes: Substitutes = {}): Promise<RunningServer> => {
  const { host, port, publicUrl } = core.config
  let url = publicUrl ?? ''
  const service = await openService(core, () => url, substitutes)
  const published = await publishShipped(core.log, core.clock, shipped, error =>
    core.logger.warn(
      { err: error },
      'a family that ships is left out, since one of yours has its name; see "tollgate catalog diff"',
    ),
  )
  await core.progress.passed(published, CATCH_UP_MS)
  // Only now is there somebody to answer. The port, and with it the address, is known when it is listened on.
  const server = createServer(service.app.callback())
  await listen(server, host, port)
  const listened = (server.address() as AddressInfo).port
  url ||= `http://${hostName(host)}:${listened}`
  service.start()
  return {
    url,
    port: listened,
    stop: async () => {
      // A connection that is kept alive would otherwise bring new requests for as long as the stop takes.
      server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'))
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      await service.stop()
      const late = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS)
      await closed
      clearTimeout(late)
      await service.close()
    },
  }
}

const listen = (server: Server, host: string, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })

/** What to write into a URL for an address that is listened on. */
const hostName = (host: string): string => {
  if (['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host)) return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}
