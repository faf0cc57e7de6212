import gossips from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import shared, { type UUID } from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import messages, { type BatchAppendResp, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { textOf } from './messages.ts'
import { toStructured } from './uuids.ts'

/** A client without retries, to test wire behaviour. It requires the leader by default. */
export const openRawClient = (t: Test, { port }: { port: number }, { requiresLeader = true } = {}) => {
  const [target, insecure] = [`127.0.0.1:${port}`, credentials.createInsecure()]
  // Otherwise a new client shares the back-off of an old one whose port was just closed.
  const own = { 'grpc.use_local_subchannel_pool': 1 }
  const client = new streams.StreamsClient(target, insecure, own)
  const gossipClient = new gossips.GossipClient(target, insecure, own)
  const featured = new features.ServerFeaturesClient(target, insecure, own)
  const calls: { cancel(): void }[] = []
  t.teardown(() => {
    for (const call of calls) call.cancel()
    for (const open of [client, gossipClient, featured]) open.close()
  })
  const metadata = () => {
    const metadata = new Metadata()
    if (requiresLeader) metadata.set('requires-leader', 'true')
    return metadata
  }

  return {
    /** Everything a read delivers, and how it ends. */
    read: (options: InstanceType<typeof messages.ReadReq.Options>) => {
      const call = client.read(new messages.ReadReq().setOptions(options), metadata())
      calls.push(call)
      return { call, ...collected<ReadResp>(call) }
    },

    batch: () => {
      const call = client.batchAppend(metadata())
      calls.push(call)
      const { items: answers, ended } = collected<BatchAppendResp>(call)
      return {
        answers,
        ended,
        call,
        /** Without an expected revision, any revision is accepted. */
        append: (stream: string, { id = structured(), revision, events = 1 }: RawAppend = {}) => {
          const options = new messages.BatchAppendReq.Options().setStreamIdentifier(
            new shared.StreamIdentifier().setStreamName(Buffer.from(stream)),
          )
          if (revision === undefined) options.setAny(new shared.Empty())
          else if (revision < 0) options.setNoStream(new shared.Empty())
          else options.setStreamPosition(String(revision))
          const request = new messages.BatchAppendReq().setCorrelationId(id).setOptions(options).setIsFinal(true)
          call.write(request.setProposedMessagesList(Array.from({ length: events }, newProposal)))
          return id
        },
      }
    },

    gossip: () =>
      new Promise<string[]>((resolve, reject) =>
        gossipClient.read(new shared.Empty(), new Metadata(), { deadline: Date.now() + 300 }, (error, info) => {
          if (error) return reject(error)
          const states = Object.keys(gossip.MemberInfo.VNodeState)
          const members = info.getMembersList()
          resolve(members.map(member => (member.getIsAlive() ? (states[member.getState()] ?? '') : 'dead')))
        }),
      ),

    version: () =>
      new Promise<string>((resolve, reject) =>
        featured.getSupportedMethods(new shared.Empty(), (error, supported) =>
          error ? reject(error) : resolve(supported.getEventStoreServerVersion()),
        ),
      ),
  }
}

interface RawAppend {
  id?: UUID
  revision?: number
  events?: number
}

export const structured = () => toStructured(crypto.randomUUID())

const newProposal = () => {
  const proposal = new messages.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(crypto.randomUUID()))
    .setData(Buffer.from('{}'))
  proposal.getMetadataMap().set('type', 'SomethingHappened').set('content-type', 'application/json')
  return proposal
}

const collected = <Item>(call: NodeJS.EventEmitter) => {
  const items: Item[] = []
  const ended = new Promise<ServiceError | undefined>(resolve => {
    call.on('data', item => items.push(item))
    call.on('error', resolve)
    call.on('end', () => resolve(undefined))
  })
  return { items, ended }
}

const newOptions = () =>
  new messages.ReadReq.Options().setUuidOption(new messages.ReadReq.Options.UUIDOption().setString(new shared.Empty()))

const fromStart = () => new messages.ReadReq.Options.AllOptions().setStart(new shared.Empty())

/** Selections for `read`. */
export const readOf = {
  stream: (stream: string) =>
    newOptions()
      .setStream(
        new messages.ReadReq.Options.StreamOptions()
          .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
          .setRevision('0'),
      )
      .setNoFilter(new shared.Empty())
      .setCount('100000'),
  all: () => newOptions().setAll(fromStart()).setNoFilter(new shared.Empty()).setCount('100000'),
  /** A live read of streams with this prefix. */
  live: (prefix: string) => {
    const expression = new messages.ReadReq.Options.FilterOptions.Expression().setPrefixList([prefix])
    return newOptions()
      .setAll(fromStart())
      .setSubscription(new messages.ReadReq.Options.SubscriptionOptions())
      .setFilter(
        new messages.ReadReq.Options.FilterOptions()
          .setStreamIdentifier(expression)
          .setMax(500)
          .setCheckpointintervalmultiplier(1),
      )
  },
}

/** Describes the messages of a read. */
export const inWords = (answers: ReadResp[]): string[] =>
  answers.map(answer => {
    const event = answer.getEvent()?.getEvent()
    if (event) return `${textOf(event.getStreamIdentifier()?.getStreamName_asU8())}/${event.getStreamRevision()}`
    const checkpoint = answer.getCheckpoint()
    if (checkpoint) return `checkpoint ${checkpoint.getCommitPosition()}/${checkpoint.getPreparePosition()}`
    return answer.hasConfirmation() ? 'confirmed' : answer.hasCaughtUp() ? 'caught up' : 'other'
  })
