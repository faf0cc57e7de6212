import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import gossips, { type IGossipServer } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import members from '@eventstore/db-client/generated/gossip_pb.js'
import features, { type IServerFeaturesServer } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import methods from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { Faults } from './event-store-server-faults.ts'
import { ServerLog } from './event-store-server-log.ts'
import { streamsService } from './event-store-server-streams.ts'

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

export const startEventStoreServer = async ({
  log,
  port: wanted = 0,
  faults = {},
}: {
  log: EventLog
  port?: number
  faults?: Faults
}): Promise<EventStoreServer> => {
  const server = new Server({ 'grpc.max_receive_message_length': 32 * 1024 * 1024 })
  /** The sockets of clients, by the port on which the server sees each of them. */
  const sockets = new Map<number, [Socket, Socket]>()
  let silent = false

  const breakOff = (peer: string) => {
    for (const socket of sockets.get(Number(peer.slice(peer.lastIndexOf(':') + 1))) ?? []) socket.destroy()
  }
  server.addService(streams.StreamsService, {
    ...streamsService(new ServerLog(log), faults, breakOff),
  })
  const inner = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  )

  // A connection that breaks or falls silent does so below the protocol, so that is done on the way to the server.
  const front = createServer({ noDelay: true }, client => {
    const upstream = connect({ port: inner, host: '127.0.0.1', noDelay: true }, () => {
      sockets.set(upstream.localPort as number, [client, upstream])
      if (silent) for (const socket of [client, upstream]) socket.pause()
    })
    const pair = [client, upstream] as const
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.on('data', data => {
        if (!to.write(data)) from.pause()
      })
      to.on('drain', () => silent || from.resume())
      from.on('error', () => to.destroy())
      from.on('close', () => {
        to.destroy()
        for (const [port, [, upstream]] of sockets) if (upstream.destroyed) sockets.delete(port)
      })
    }
  })
  front.listen(wanted, '127.0.0.1')
  await once(front, 'listening')
  const { port } = front.address() as AddressInfo

  server.addService(features.ServerFeaturesService, { ...featuresService })
  server.addService(gossips.GossipService, { ...gossipService(port) })
  const dropConnections = () => {
    for (const [client, upstream] of sockets.values()) {
      client.destroy()
      upstream.destroy()
    }
  }
  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    port,
    faults,
    dropConnections,
    silence: now => {
      silent = now
      for (const socket of [...sockets.values()].flat()) silent ? socket.pause() : socket.resume()
    },
    close: async () => {
      front.close()
      dropConnections()
      server.forceShutdown()
    },
  }
}

const featuresService: IServerFeaturesServer = {
  getSupportedMethods: (_, answer) => {
    const supported = new methods.SupportedMethods().setEventStoreServerVersion('23.10.0')
    for (const name of ['append', 'batchappend', 'read'])
      supported.addMethods(
        new methods.SupportedMethod().setMethodName(name).setServiceName('event_store.client.streams.streams'),
      )
    answer(null, supported)
  },
}

/** A cluster of one, which leads itself. */
const gossipService = (port: number): IGossipServer => ({
  read: (_, answer) => {
    const member = new members.MemberInfo()
      .setInstanceId(new shared.UUID().setString(crypto.randomUUID()))
      .setTimeStamp('0')
      .setState(members.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new members.EndPoint().setAddress('127.0.0.1').setPort(port))
    answer(null, new members.ClusterInfo().setMembersList([member]))
  },
})
