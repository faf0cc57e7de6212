import gossips from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import members, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type Channel, credentials, type Metadata, type requestCallback, status } from '@grpc/grpc-js'
import { type Endpoint, showEndpoint } from './address.ts'
import { type AppendAnswer, type AppendLimits, type AppendRequest, Appends } from './appends.ts'
import { Disconnected, Refused } from './faults.ts'
import { handOver, type Reader, type Selection, toReadRequest } from './messages.ts'

/** A server that leads says so at once; one that takes longer is not to be relied on. */
const ASK_TIMEOUT_MS = 1000

/** The oldest server whose protocol, batched appends and positions in checkpoints were tried. */
const OLDEST_VERSION = [23, 10] as const

/** What a server says of its cluster. */
export interface Answer {
  /** Whether it leads itself. */
  leads: boolean
  members: Endpoint[]
  /** The member that it takes for the leader. */
  leader: Endpoint | undefined
}

/** A server, over one connection of its own. */
export class Node {
  readonly endpoint: Endpoint
  readonly #place: string
  readonly #channel: Channel
  readonly #metadata: Metadata
  readonly #limits: AppendLimits
  readonly #streams: InstanceType<typeof streams.StreamsClient>
  readonly #gossip: InstanceType<typeof gossips.GossipClient>
  readonly #features: InstanceType<typeof features.ServerFeaturesClient>
  readonly #ends = new Set<(error: Error) => void>()
  #appends: Appends | undefined
  #closed = false

  constructor(endpoint: Endpoint, channel: Channel, metadata: Metadata, limits: AppendLimits) {
    this.endpoint = endpoint
    this.#place = `EventStoreDB at ${showEndpoint(endpoint)}`
    this.#channel = channel
    this.#metadata = metadata
    this.#limits = limits
    // With a channel of their own making, the stubs use neither address nor credentials.
    const given = [showEndpoint(endpoint), credentials.createInsecure(), { channelOverride: channel }] as const
    this.#streams = new streams.StreamsClient(...given)
    this.#gossip = new gossips.GossipClient(...given)
    this.#features = new features.ServerFeaturesClient(...given)
  }

  /** Whether this server leads, and who else there is. Rejects with Refused for a server that is too old. */
  async ask(): Promise<Answer> {
    const nothing = new shared.Empty()
    const [info, version] = await Promise.all([
      this.#call<ClusterInfo>((options, answer) => this.#gossip.read(nothing, this.#metadata, options, answer)),
      this.#call<SupportedMethods>((options, answer) =>
        this.#features.getSupportedMethods(nothing, this.#metadata, options, answer),
      ).then(
        methods => methods.getEventStoreServerVersion(),
        // Servers before 21.10 do not say which version they are.
        error => (error.code === status.UNIMPLEMENTED ? undefined : Promise.reject(error)),
      ),
    ])
    if (version === undefined || isOlder(version, OLDEST_VERSION)) throw this.#tooOld(version)
    return this.#understand(info)
  }

  #tooOld(version: string | undefined): Refused {
    const oldest = OLDEST_VERSION.join('.')
    return new Refused(
      version === undefined
        ? `${this.#place} is older than ${oldest}; Tollgate needs ${oldest} or newer`
        : `${this.#place} is version ${version}; Tollgate needs ${oldest} or newer`,
    )
  }

  #understand(info: ClusterInfo): Answer {
    const known = info.getMembersList().flatMap(member => {
      const place = member.getHttpEndPoint()
      const leads = member.getState() === members.MemberInfo.VNodeState.LEADER && member.getIsAlive()
      return place ? [{ host: place.getAddress(), port: place.getPort(), leads }] : []
    })
    // A single server may be reached by another address than it knows of, and that one may lead elsewhere from here.
    if (known.length === 1) return { leads: known[0]?.leads === true, members: [], leader: this.endpoint }
    const own = showEndpoint(this.endpoint)
    return {
      leads: known.some(member => member.leads && showEndpoint(member) === own),
      members: known.map(({ host, port }) => ({ host, port })),
      leader: known.find(({ leads }) => leads),
    }
  }

  /** Resolves when there is no more; a live read goes on until the signal or the server ends it. */
  read(selection: Selection, reader: Reader, signal: AbortSignal): Promise<void> {
    return this.#until<void>((resolve, reject) => {
      signal.throwIfAborted()
      const abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort)
      const call = this.#streams.read(toReadRequest(selection), this.#metadata)
      let ended = false
      reader.begins(call)
      call.on('data', (answer: ReadResp) => {
        // What a call still brings after its read has ended may come again by another.
        if (ended) return
        try {
          handOver(answer, reader)
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

  append(request: AppendRequest): Promise<AppendAnswer> {
    if (this.#closed) return Promise.reject(new Disconnected(`${this.#place} was disconnected`))
    if (!this.#appends?.isOpen)
      this.#appends = new Appends(this.#streams.batchAppend(this.#metadata), this.#place, this.#limits)
    return this.#appends.append(request)
  }

  /** Ends all that is under way: reads may be taken up elsewhere, and appends are left in doubt. */
  close() {
    this.#closed = true
    const moved = new Disconnected(`${this.#place} was disconnected`)
    for (const end of this.#ends) end(moved)
    this.#appends?.close()
    this.#channel.close()
  }

  /** A call with one answer, which is given up when that takes too long. */
  #call<Result>(make: (options: { deadline: number }, answer: requestCallback<Result>) => { cancel(): void }) {
    return this.#until<Result>((resolve, reject) => {
      const call = make({ deadline: Date.now() + ASK_TIMEOUT_MS }, (error, result) =>
        error ? reject(error) : resolve(result as Result),
      )
      return () => call.cancel()
    })
  }

  /** Work that ends with this connection at the latest. What it returns is called in the end, however that comes. */
  #until<Result>(
    work: (resolve: (result: Result) => void, reject: (error: unknown) => void) => () => void,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new Disconnected(`${this.#place} was disconnected`)
      let settled = false
      let tidy: (() => void) | undefined
      const settle = (outcome: () => void) => {
        if (settled) return
        settled = true
        this.#ends.delete(end)
        tidy?.()
        outcome()
      }
      const end = (error: unknown) => settle(() => reject(error))
      this.#ends.add(end)
      try {
        tidy = work(result => settle(() => resolve(result)), end)
      } catch (error) {
        end(error)
      }
      if (settled) tidy?.()
    })
  }
}

const isOlder = (version: string, [major, minor]: readonly [number, number]): boolean => {
  const [ofMajor = 0, ofMinor = 0] = version.split('.').map(part => Number.parseInt(part, 10) || 0)
  return ofMajor < major || (ofMajor === major && ofMinor < minor)
}
