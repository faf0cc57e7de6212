import gossips, { type IGossipServer } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import features, { type IServerFeaturesServer } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import methods from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { Server, ServerCredentials, status } from '@grpc/grpc-js'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { Faults } from './faults.ts'
import { type Front, openFront } from './front.ts'
import { streamsService } from './streams.ts'
import type { Role } from './writes.ts'

/** An EventStoreDB process, single or in a cluster, on its own port. */
export interface EventStoreNode {
  front: Front
  close(): void
}

export interface NodeOptions {
  log: EventLog
  port: number
  faults: Faults
  version: string
  role: Role
  /** The cluster's members, as this one sees them. */
  members(port: number): Member[]
}

export interface Member {
  id: string
  port: number
  state: keyof typeof gossip.MemberInfo.VNodeState
  isAlive: boolean
}

export const HOST = '127.0.0.1'

/** More than the largest append that the server still answers. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024

/** The default of Kestrel, EventStoreDB's web server: concurrent calls per connection. */
const MAX_STREAMS = 100

export const startNode = async ({ port, members, ...options }: NodeOptions): Promise<EventStoreNode> => {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_concurrent_streams': MAX_STREAMS,
  })
  let front: Front | undefined
  const breakOff = (peer: string) => front?.breakOff(peer)
  server.addService(streams.StreamsService, { ...streamsService({ ...options, breakOff }) })
  server.addService(features.ServerFeaturesService, { ...featuresService(options) })
  server.addService(gossips.GossipService, { ...gossipService(() => members(front?.port ?? port)) })
  const inner = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`${HOST}:0`, ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  )
  const opened = await openFront(inner, port)
  front = opened
  return {
    front: opened,
    close: () => {
      opened.close()
      server.forceShutdown()
    },
  }
}

const featuresService = ({ faults, version }: { faults: Faults; version: string }): IServerFeaturesServer => ({
  getSupportedMethods: (_, answer) => {
    if (faults.hidesFeatures) return answer({ code: status.UNIMPLEMENTED, details: 'Service is unimplemented.' })
    const supported = new methods.SupportedMethods().setEventStoreServerVersion(version)
    for (const [name, features] of Object.entries(METHODS))
      supported.addMethods(
        new methods.SupportedMethod()
          .setMethodName(name)
          .setServiceName('event_store.client.streams.streams')
          .setFeaturesList(features),
      )
    answer(null, supported)
  },
})

const METHODS = { append: [], batchappend: ['deadline_duration'], read: ['position', 'events'] }

const gossipService = (members: () => Member[]): IGossipServer => ({
  read: (_, answer) =>
    answer(
      null,
      new gossip.ClusterInfo().setMembersList(
        members().map(({ id, port, state, isAlive }) =>
          new gossip.MemberInfo()
            .setInstanceId(new shared.UUID().setString(id))
            // In ticks of 100 ns.
            .setTimeStamp(String(Date.now() * 10_000))
            .setState(gossip.MemberInfo.VNodeState[state])
            .setIsAlive(isAlive)
            .setHttpEndPoint(new gossip.EndPoint().setAddress(HOST).setPort(port)),
        ),
      ),
    ),
})
