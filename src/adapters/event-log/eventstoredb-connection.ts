import { setTimeout as delay } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import services, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import messages, {
  type AppendReq,
  type AppendResp,
  type ReadReq,
  type ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import type { Position } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, type NewEvent, NO_STREAM, RevisionConflict } from '../../ports/event-log.ts'
import { toEventStoreFault } from './eventstoredb-faults.ts'
import { toCommit, toPosition } from './eventstoredb-positions.ts'
import type { EventStoreAddress } from './eventstoredb-url.ts'

/** An event as the server hands it out, with the bytes that it takes. */
export interface ServerEvent {
  id: string
  stream: string
  revision: number
  position: Position
  type: string
  data: Uint8Array
  metadata: Uint8Array
}

/** Which events to read: those of a stream, or those of all streams whose names match. */
export type Selection =
  | { stream: string; fromRevision: number }
  | { matching: string; from: Position }
  | { matching: string; after: Position; live: true }
  | { matching: string; last: true }

/** Told of what a read brings, in order. */
export interface Reader {
  begins(flow: { pause(): void; resume(): void }): void
  event(event: ServerEvent): void
  /** The server has taken up a live read. */
  confirmed(): void
  /** All that is to be read up to here has come. */
  checkpoint(position: Position): void
}

type AllOptions = InstanceType<typeof messages.ReadReq.Options.AllOptions>
type RecordedEvent = InstanceType<typeof messages.ReadResp.ReadEvent.RecordedEvent>

const BACKWARDS = 1
const ALL = String(Number.MAX_SAFE_INTEGER)

/** Between checkpoints of a read that finds nothing, this many events were looked at. */
const SEARCH_WINDOW = 500

/** After an election, a request may come to the old leader; the client then turns to the one it names. */
const LEADER_ATTEMPTS = 3
const LEADER_DELAY_MS = 100

/**
 * A connection to the server. The vendor's client makes and mends it and finds the leader; the requests are made here,
 * since the client's own append leaves promises open, and rejections unhandled, when the connection goes in the middle
 * of it, and shares between all connections of a process what it waits for.
 */
export class Connection {
  readonly #client: EventStoreDBClient
  readonly #server: string
  readonly #calls = new Set<Call>()

  constructor({ connectionString, server }: EventStoreAddress) {
    this.#server = server
    this.#client = EventStoreDBClient.connectionString(connectionString)
    // Nobody waits for it, so its own failure must not become an unhandled rejection.
    const mend = this.#client['handleError']
    this.#client['handleError'] = (...failed) => mend(...failed).catch(() => undefined)
  }

  /** Resolves without a position where the server only knows that it has the events already. */
  async append(
    stream: string,
    events: NewEvent[],
    expectedRevision: number,
    signal: AbortSignal,
  ): Promise<{ revision: number; position: Position | undefined }> {
    const requests = [toHeader(stream, expectedRevision), ...events.map(toProposal)]
    const answer = await this.#request<AppendResp>(true, signal, (client, resolve, reject) => {
      const call = client.append(...this.#arguments(), (error, answer) => (error ? reject(error) : resolve(answer)))
      call.on('error', reject)
      for (const request of requests) call.write(request)
      call.end()
      return call
    })
    const success = answer.getSuccess()
    if (!success) throw new RevisionConflict(stream, expectedRevision)
    const position = success.getPosition()
    return {
      revision: Number(success.getCurrentRevision()),
      position: position && toPosition(position.getCommitPosition()),
    }
  }

  /** Resolves when there is no more; a live read goes on until the signal or the server ends it. */
  read(selection: Selection, reader: Reader, signal: AbortSignal): Promise<void> {
    return this.#request<void>(false, signal, (client, resolve, reject) => {
      const call = client.read(toReadRequest(selection), ...this.#arguments())
      reader.begins(call)
      call.on('data', (answer: ReadResp) => {
        try {
          hand(answer, reader)
        } catch (error) {
          reject(error)
          call.cancel()
        }
      })
      call.on('error', reject)
      call.on('end', resolve)
      return call
    })
  }

  /** Gives up all requests that are still under way. */
  async close(): Promise<void> {
    for (const call of this.#calls) call.cancel()
    const channel = await this.#client['getChannel']().catch(() => undefined)
    channel?.close()
  }

  /** Without the client's own deadline, which would end a live read. */
  #arguments() {
    return this.#client['callArguments']({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY })
  }

  /** Makes a request, and cancels it when the signal says so. What it rejects with is one of our faults. */
  async #request<Answer>(isAppend: boolean, signal: AbortSignal, make: Make<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(signal, make)
      } catch (failure) {
        if (signal.aborted) throw signal.reason
        const { error, wasNotTaken } = toEventStoreFault(failure, this.#server, isAppend)
        if (!wasNotTaken || attempt >= LEADER_ATTEMPTS) throw error
        await delay(LEADER_DELAY_MS)
      }
    }
  }

  #attempt<Answer>(signal: AbortSignal, make: Make<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let call: Call | undefined
      const cancel = () => {
        reject(signal.reason)
        call?.cancel()
      }
      signal.addEventListener('abort', cancel)
      const answer = this.#client['execute'](
        services.StreamsClient,
        'a request',
        client =>
          new Promise<Answer>((answer, fail) => {
            // The connection may have taken so long that nobody waits any more.
            signal.throwIfAborted()
            call = make(client, answer, fail)
            this.#calls.add(call)
          }),
      )
      answer.then(resolve, reject).finally(() => {
        signal.removeEventListener('abort', cancel)
        if (call) this.#calls.delete(call)
      })
    })
  }
}

type Make<Answer> = (client: StreamsClient, resolve: (answer: Answer) => void, reject: (error: unknown) => void) => Call

interface Call {
  cancel(): void
}

const toHeader = (stream: string, expectedRevision: number): AppendReq => {
  const options = new messages.AppendReq.Options()
  options.setStreamIdentifier(toIdentifier(stream))
  if (expectedRevision === NO_STREAM) options.setNoStream(new shared.Empty())
  else options.setRevision(String(expectedRevision))
  return new messages.AppendReq().setOptions(options)
}

const toProposal = ({ id, type, data, metadata }: NewEvent): AppendReq => {
  const proposal = new messages.AppendReq.ProposedMessage()
  proposal.setId(new shared.UUID().setString(id))
  proposal.getMetadataMap().set('type', type).set('content-type', 'application/json')
  proposal.setData(toBytes(data)).setCustomMetadata(toBytes(metadata))
  return new messages.AppendReq().setProposedMessage(proposal)
}

const toReadRequest = (selection: Selection): ReadReq => {
  const options = new messages.ReadReq.Options()
  options.setUuidOption(new messages.ReadReq.Options.UUIDOption().setString(new shared.Empty()))
  if ('stream' in selection) {
    const stream = new messages.ReadReq.Options.StreamOptions().setStreamIdentifier(toIdentifier(selection.stream))
    options.setStream(stream.setRevision(String(selection.fromRevision))).setNoFilter(new shared.Empty())
    return new messages.ReadReq().setOptions(options.setCount(ALL))
  }
  const all = new messages.ReadReq.Options.AllOptions()
  if ('last' in selection) options.setReadDirection(BACKWARDS).setAll(all.setEnd(new shared.Empty())).setCount('1')
  else if ('live' in selection)
    options.setAll(toStart(all, selection.after)).setSubscription(new messages.ReadReq.Options.SubscriptionOptions())
  else options.setAll(toStart(all, selection.from)).setCount(ALL)
  const filter = new messages.ReadReq.Options.FilterOptions().setMax(SEARCH_WINDOW).setCheckpointintervalmultiplier(1)
  const expression = new messages.ReadReq.Options.FilterOptions.Expression().setRegex(selection.matching)
  return new messages.ReadReq().setOptions(options.setFilter(filter.setStreamIdentifier(expression)))
}

/** Reads begin with the event at a position, and live reads after it. */
const toStart = (all: AllOptions, position: Position): AllOptions => {
  if (position === BEFORE_FIRST) return all.setStart(new shared.Empty())
  const commit = toCommit(position)
  const start = new messages.ReadReq.Options.Position().setCommitPosition(commit).setPreparePosition(commit)
  return all.setPosition(start)
}

const hand = (answer: ReadResp, reader: Reader) => {
  const recorded = answer.getEvent()?.getEvent()
  if (recorded) reader.event(toServerEvent(recorded))
  const checkpoint = answer.getCheckpoint()
  if (checkpoint) reader.checkpoint(toPosition(checkpoint.getCommitPosition()))
  if (answer.hasConfirmation()) reader.confirmed()
}

const toServerEvent = (recorded: RecordedEvent): ServerEvent => ({
  id: recorded.getId()?.getString() ?? '',
  stream: Buffer.from(recorded.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
  revision: Number(recorded.getStreamRevision()),
  position: toPosition(recorded.getCommitPosition()),
  type: recorded.getMetadataMap().get('type') ?? '',
  data: recorded.getData_asU8(),
  metadata: recorded.getCustomMetadata_asU8(),
})

const toIdentifier = (stream: string) => new shared.StreamIdentifier().setStreamName(Buffer.from(stream))
const toBytes = (value: unknown) => Buffer.from(JSON.stringify(value ?? null))
