import type { EventLog } from '../../../src/ports/event-log.ts'
import type { Faults } from './faults.ts'
import { HOST, startNode } from './node.ts'

/** A server that speaks EventStoreDB's protocol over an embedded log, and fails as it is told to. */
export interface EventStoreServer {
  url: string
  port: number
  faults: Faults
  /** Breaks all connections; new ones are taken. */
  dropConnections(): void
  /** Nothing goes through any more, and no connection is closed, until it is called again with false. */
  silence(silent: boolean): void
  close(): Promise<void>
}

/** The server that it is taken for, in what it says and in how its subscriptions go live. */
export const VERSION = '24.10.4'

/** One that is closed can be started again at its port, over the same log. */
export const startEventStoreServer = async ({
  log,
  port: wanted = 0,
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
    ...{ log, port: wanted, faults, version },
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
