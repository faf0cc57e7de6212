import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WatchedState } from '../ports/metrics.ts'
import { ConfigError } from './config.ts'
import type { Core } from './core.ts'

/** Far more than the servers of Prometheus that read one process. */
const MAX_CONNECTIONS = 100

const REMEDY = 'Set METRICS_PORT to a free port, and METRICS_HOST to an address of this machine.'

/** Serves the metrics on a port of their own, if one is set. Rejects with ConfigError if the port is not available. */
export const serveMetrics = async ({ config, telemetry, logger }: Core, state: WatchedState) => {
  const { metrics } = telemetry
  if (!metrics || !config.metrics) return undefined
  metrics.watch(state)
  const server = createServer(async ({ method, url }, response) => {
    if (method !== 'GET' || url?.split('?', 1)[0] !== '/metrics') return response.writeHead(404).end('GET /metrics\n')
    try {
      const { contentType, body } = await metrics.text()
      response.writeHead(200, { 'Content-Type': contentType }).end(body)
    } catch (error) {
      logger.error({ err: error }, 'the metrics could not be read')
      response.writeHead(500).end()
    }
  })
  server.maxConnections = MAX_CONNECTIONS
  const { host, port } = config.metrics
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ message }) => reject(new ConfigError(`METRICS_PORT cannot be used: ${message}. ${REMEDY}`)))
    server.listen({ port, host, exclusive: true }, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
