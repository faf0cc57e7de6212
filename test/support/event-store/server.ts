import type { EventLog } from '../../../src/ports/event-log.ts'
import type { Faults } from './faults.ts'
import { HOST, startNode } from './node.ts'

/** A server that speaks EventStoreDB's protocol over an embedded log, with configurable faults. */
export interface EventStoreServer {
  url: string
  port: number
  faults: Faults
  /** Breaks all connections, but accepts new ones. */
  dropConnections(): void
  /** Stops all traffic without closing connections, until called with false. */
  silence(silent: boolean): void
  close(): Promise<void>
}

/** The version that it imitates in its responses and in how subscriptions go live. */
export const VERSION = '24.10.4'

/** A closed server can be restarted on its port, over the same log. */
export const startEventStoreServer = async ({
  log,
  port: requestedPort = 0,
  faults = {},
  version = VERSION,
}: {
  log: EventLog
  port?: number
  faults?: Faults
  version?: string
}): Promise<EventStoreServer> => {
  const id = crypto.randomUUID()
  const { front, close } = await startNode({
    ...{ log, port: requestedPort, faults, version },
    role: () => undefined,
    // A cluster of one, which leads itself.
    members: port => [{ id, port, state: 'LEADER', isAlive: true }],
  })
  return {
    url: `esdb://${HOST}:${front.port}?tls=false`,
    port: front.port,
    faults,
    dropConnections: front.dropConnections,
    silence: front.silence,
    close: async () => close(),
  }
}
