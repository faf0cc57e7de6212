import gossips from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import members, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared, { type UUID } from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type Channel, credentials, type Metadata, type requestCallback, status } from '@grpc/grpc-js'
import { type Endpoint, showEndpoint } from './address.ts'
import { type Append, type AppendAnswer, type AppendOptions, Appends } from './appends.ts'
import { LeaderLost, Refused } from './faults.ts'
import { dispatch, type Reader, type Selection, toReadRequest } from './messages.ts'

/** A healthy server answers gossip at once. */
const GOSSIP_TIMEOUT_MS = 1000

/** The oldest tested version. */
const OLDEST_VERSION = [23, 10] as const

/** A server's view of its cluster. */
interface Gossip {
  /** The server's own instance ID; undefined if it was reached by an address that it does not advertise. */
  id: string | undefined
  /** Whether it claims to lead. */
  leads: boolean
  /** The instance ID of the member that it considers the leader. */
  leader: string | undefined
  members: Endpoint[]
}

interface Transport {
  channel: Channel
  /** Sent with every request. */
  metadata: Metadata
  close(): void
}

/** A server, over a connection of its own. */
export class Node {
  readonly endpoint: Endpoint
  readonly #place: string
  readonly #transport: Transport
  readonly #metadata: Metadata
  readonly #options: AppendOptions
  readonly #streams: InstanceType<typeof streams.StreamsClient>
  readonly #gossip: InstanceType<typeof gossips.GossipClient>
  readonly #features: InstanceType<typeof features.ServerFeaturesClient>
  readonly #ends = new Set<(error: Error) => void>()
  #appends: Appends | undefined
  #closed = false

  constructor(endpoint: Endpoint, transport: Transport, options: AppendOptions) {
    this.endpoint = endpoint
    this.#place = `EventStoreDB at ${showEndpoint(endpoint)}`
    this.#transport = transport
    this.#metadata = transport.metadata
    this.#options = options
    // With a channel override, stubs use neither address nor credentials.
    const given = [
      showEndpoint(endpoint),
      credentials.createInsecure(),
      { channelOverride: transport.channel },
    ] as const
    this.#streams = new streams.StreamsClient(...given)
    this.#gossip = new gossips.GossipClient(...given)
    this.#features = new features.ServerFeaturesClient(...given)
  }

  /** Rejects with Refused for a server that is too old. */
  async gossip(): Promise<Gossip> {
    const nothing = new shared.Empty()
    const [info, version] = await Promise.all([
      this.#call<ClusterInfo>((options, answer) => this.#gossip.read(nothing, this.#metadata, options, answer)),
      this.#call<SupportedMethods>((options, answer) =>
        this.#features.getSupportedMethods(nothing, this.#metadata, options, answer),
      ).then(
        methods => methods.getEventStoreServerVersion(),
        // Servers before 21.10 do not report their version.
        error => (error.code === status.UNIMPLEMENTED ? undefined : Promise.reject(error)),
      ),
    ])
    if (version === undefined || isOlder(version, OLDEST_VERSION)) throw this.#tooOld(version)
    return toGossip(info, this.endpoint)
  }

  #tooOld(version: string | undefined): Refused {
    const oldest = OLDEST_VERSION.join('.')
    const known = version === undefined ? `older than ${oldest}` : `version ${version}`
    return new Refused(`${this.#place} is ${known}; Tollgate needs ${oldest} or newer`)
  }

  /** Resolves at the current end; a live read continues until the signal or the server ends it. */
  read(selection: Selection, reader: Reader, signal: AbortSignal): Promise<void> {
    return this.#until<void>((resolve, reject) => {
      signal.throwIfAborted()
      const abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort)
      const call = this.#streams.read(toReadRequest(selection), this.#metadata)
      let ended = false
      reader.begins(call)
      call.on('data', (answer: ReadResp) => {
        // A retry may read these messages again.
        if (ended) return
        try {
          dispatch(answer, reader)
        } catch (error) {
          reject(error)
        }
      })
      call.on('error', reject)
      call.on('end', () => resolve())
      return () => {
        ended = true
        signal.removeEventListener('abort', abort)
        call.cancel()
      }
    })
  }

  append(append: Append): Promise<AppendAnswer> {
    if (this.#closed) return Promise.reject(this.#disconnected())
    if (!this.#appends?.isOpen)
      this.#appends = new Appends(this.#streams.batchAppend(this.#metadata), this.#place, this.#options)
    return this.#appends.append(append)
  }

  /** Ends all requests: reads can be retried elsewhere, appends are in doubt. */
  close() {
    this.#closed = true
    for (const end of this.#ends) end(this.#disconnected())
    this.#appends?.close()
    this.#transport.close()
  }

  #disconnected(): LeaderLost {
    return new LeaderLost(`${this.#place} was disconnected`)
  }

  /** A unary call with a deadline. */
  #call<Result>(make: (options: { deadline: number }, answer: requestCallback<Result>) => { cancel(): void }) {
    return this.#until<Result>((resolve, reject) => {
      const call = make({ deadline: Date.now() + GOSSIP_TIMEOUT_MS }, (error, result) =>
        error ? reject(error) : resolve(result as Result),
      )
      return () => call.cancel()
    })
  }

  /** Runs work that ends when the connection ends, and calls the cleanup function that it returns. */
  #until<Result>(
    work: (resolve: (result: Result) => void, reject: (error: unknown) => void) => () => void,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw this.#disconnected()
      let settled = false
      let cleanUp: (() => void) | undefined
      const settle = (outcome: () => void) => {
        if (settled) return
        settled = true
        this.#ends.delete(end)
        cleanUp?.()
        outcome()
      }
      const end = (error: unknown) => settle(() => reject(error))
      this.#ends.add(end)
      try {
        cleanUp = work(result => settle(() => resolve(result)), end)
      } catch (error) {
        end(error)
      }
      if (settled) cleanUp?.()
    })
  }
}

const toGossip = (info: ClusterInfo, endpoint: Endpoint): Gossip => {
  const known = info.getMembersList().map(member => {
    const [host, port] = [member.getHttpEndPoint()?.getAddress() ?? '', member.getHttpEndPoint()?.getPort() ?? 0]
    const leads = member.getState() === members.MemberInfo.VNodeState.LEADER && member.getIsAlive()
    return { host, port, leads, id: toId(member.getInstanceId()) }
  })
  const isAlone = known.length === 1
  const self = isAlone ? known[0] : known.find(member => showEndpoint(member) === showEndpoint(endpoint))
  return {
    id: self?.id,
    leads: self?.leads ?? false,
    leader: known.find(({ leads }) => leads)?.id,
    // A single server may advertise an unreachable address, so it is ignored.
    members: isAlone ? [] : known.flatMap(({ host, port }) => (HOST.test(host) && port > 0 ? [{ host, port }] : [])),
  }
}

/** With other characters, gRPC would throw or misread the host. */
const HOST = /^[\w.:%-]+$/

const toId = (id: UUID | undefined): string => {
  const bits = id?.getStructured()
  return bits ? `${bits.getMostSignificantBits()}:${bits.getLeastSignificantBits()}` : (id?.getString() ?? '')
}

const isOlder = (version: string, [major, minor]: readonly [number, number]): boolean => {
  const [actualMajor = 0, actualMinor = 0] = version.split('.').map(part => Number.parseInt(part, 10) || 0)
  return actualMajor < major || (actualMajor === major && actualMinor < minor)
}
