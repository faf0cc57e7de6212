import { setTimeout as delay } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import services, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { AppendResp, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { Position } from '../../../schemas/recorded.ts'
import { type NewEvent, RevisionConflict } from '../../ports/event-log.ts'
import { NotTaken, toEventStoreFault } from './eventstoredb-faults.ts'
import { handOver, type Reader, type Selection, toHeader, toProposal, toReadRequest } from './eventstoredb-messages.ts'
import { toPosition } from './eventstoredb-positions.ts'

/** What the address of a server says. */
export interface EventStoreAddress {
  /** For the vendor's client: the address without what is only ours. */
  connectionString: string
  /** The hosts, for messages. */
  server: string
  /** What the names of all our streams begin with there, so that several deployments can share a server. */
  streamPrefix: string
}

/**
 * For requests that nobody took: after an election one may come to the old leader, and the client then turns to the one that
 * it names; or the client closes a connection just as it is asked for the request.
 */
const ATTEMPTS = 3
const ATTEMPT_PAUSE_MS = 100

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
    const answer = await this.#request<AppendResp>('append', signal, (client, resolve, reject) => {
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
    return this.#request<void>('read', signal, (client, resolve, reject) => {
      const call = client.read(toReadRequest(selection), ...this.#arguments())
      reader.begins(call)
      call.on('data', (answer: ReadResp) => {
        try {
          handOver(answer, reader)
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
  async #request<Answer>(kind: 'append' | 'read', signal: AbortSignal, make: Make<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(signal, make)
      } catch (failure) {
        if (signal.aborted) throw signal.reason
        const fault = toEventStoreFault(failure, this.#server, kind)
        if (!(fault instanceof NotTaken) || attempt >= ATTEMPTS) throw fault
        await delay(ATTEMPT_PAUSE_MS)
        // The next attempt would listen too late.
        signal.throwIfAborted()
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
      const outcome = this.#client['execute'](
        services.StreamsClient,
        'a request',
        client =>
          new Promise<Answer>((resolve, reject) => {
            // The connection may have taken so long that nobody waits any more.
            signal.throwIfAborted()
            call = make(client, resolve, reject)
            this.#calls.add(call)
          }),
      )
      outcome.then(resolve, reject).finally(() => {
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
