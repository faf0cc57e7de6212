import type { IStreamsServer } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { batchAppend } from './batches.ts'
import type { Faults } from './faults.ts'
import { ServerLog } from './log.ts'
import { read } from './reads.ts'
import { append, type Role, toWrite } from './writes.ts'

export interface StreamsOptions {
  log: EventLog
  faults: Faults
  version: string
  role: Role
  /** Breaks the connection of a call. */
  breakOff(peer: string): void
}

/** EventStoreDB's streams over an embedded log. */
export const streamsService = (options: StreamsOptions): Pick<IStreamsServer, 'read' | 'append' | 'batchAppend'> => {
  const server = new ServerLog(options.log)
  const write = toWrite(server, options.faults, options.role, options.breakOff)
  return { append: append(write), batchAppend: batchAppend(write), read: read({ ...options, server }) }
}
