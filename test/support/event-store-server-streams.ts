import { once } from 'node:events'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import type { IStreamsServer } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { AppendReq, BatchAppendReq, ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type ServerWritableStream, status } from '@grpc/grpc-js'
import type { Position, RawEvent } from '../../schemas/recorded.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import {
  type Faults,
  invalidPosition,
  maximumAppendSizeExceeded,
  type ReadEnd,
  type Refusal,
  unknown,
} from './event-store-server-faults.ts'
import { type ServerLog, toPosition, type Written } from './event-store-server-log.ts'
import {
  type Asked,
  type BatchOutcome,
  textOf,
  toAppendAnswer,
  toAsked,
  toBatchAnswer,
  toCheckpoint,
  toConfirmation,
  toFilter,
  toReadAnswer,
  toStreamNotFound,
} from './event-store-server-messages.ts'

/** As a server is shipped. */
const MAX_APPEND_BYTES = 1024 * 1024

/** How many events a filtered subscription looks through before it says how far it is, unless it is asked otherwise. */
const DEFAULT_WINDOW = 32

/** The streams of EventStoreDB over an embedded log. `breakOff` ends the connection on which a call came. */
export const streamsService = (
  server: ServerLog,
  faults: Faults,
  breakOff: (peer: string) => void,
): Pick<IStreamsServer, 'read' | 'append' | 'batchAppend'> => {
  /** Undefined when there shall be no answer. */
  const write = async (asked: Asked, peer: string): Promise<BatchOutcome | undefined> => {
    const fate = faults.append?.()
    if (faults.delayMs) await delay(faults.delayMs)
    if (fate === 'broken before') breakOff(peer)
    if (fate === 'broken before' || fate === 'unheard') return undefined
    if (typeof fate === 'object' && 'refuse' in fate) return fate
    if (typeof fate === 'object') await delay(fate.afterMs)
    if (asked.bytes > MAX_APPEND_BYTES) return { refuse: maximumAppendSizeExceeded(MAX_APPEND_BYTES) }
    const written = await server.append(asked.stream, asked.events, asked.expected)
    if (fate === 'broken after') breakOff(peer)
    if (fate === 'broken after' || fate === 'unanswered') return undefined
    return { written: hidden(written, faults), expected: asked.expected }
  }

  return {
    append: (call, answer) => {
      const requests: AppendReq[] = []
      call.on('data', request => requests.push(request))
      call.on('error', () => undefined)
      call.on('end', async () => {
        // A call that breaks off before its end ends as well, and is no append.
        await setImmediate()
        if (call.cancelled) return
        const options = requests[0]?.getOptions()
        const proposals = requests.slice(1).flatMap(request => request.getProposedMessage() ?? [])
        if (!options) return answer({ code: status.INVALID_ARGUMENT, details: 'no options' })
        const outcome = await write(toAsked(options, proposals), call.getPeer())
        if (!outcome) return
        if ('refuse' in outcome) answer(outcome.refuse)
        else answer(null, toAppendAnswer(outcome.written, outcome.expected))
      })
    },

    batchAppend: call => {
      const parts = new Map<string, BatchAppendReq[]>()
      call.on('error', () => undefined)
      call.on('end', () => call.end())
      call.on('data', async (request: BatchAppendReq) => {
        const id = request.getCorrelationId()?.getString() ?? ''
        const requests = [...(parts.get(id) ?? []), request]
        parts.set(id, requests)
        if (!request.getIsFinal()) return
        parts.delete(id)
        const options = requests[0]?.getOptions()
        if (!options) return
        const asked = toAsked(
          options,
          requests.flatMap(part => part.getProposedMessagesList()),
        )
        const outcome = await write(asked, call.getPeer())
        if (outcome && call.writable) call.write(toBatchAnswer(request, asked.stream, outcome))
      })
    },

    read: call => {
      read(server, faults, breakOff, call).catch(error =>
        refuse(call, error instanceof RangeError ? invalidPosition() : unknown(error)),
      )
    },
  }
}

const hidden = (written: Written, { hidesPositionOfRepeated }: Faults): Written =>
  'repeated' in written && written.repeated && hidesPositionOfRepeated ? { ...written, position: undefined } : written

type ReadCall = ServerWritableStream<ReadReq, ReadResp>

const read = async (server: ServerLog, faults: Faults, breakOff: (peer: string) => void, call: ReadCall) => {
  const options = call.request.getOptions()
  if (!options) throw new Error('no options')
  const stop = new AbortController()
  call.on('cancelled', () => stop.abort())
  call.on('close', () => stop.abort())
  call.on('error', () => undefined)
  const fate = options.hasSubscription() ? faults.subscription?.(await startOf(server, options)) : faults.read?.()
  if (faults.delayMs) await delay(faults.delayMs)
  if (fate && 'refuse' in fate) return refuse(call, fate.refuse)

  const answers = options.hasSubscription()
    ? subscribe(server, options, stop.signal)
    : options.hasStream()
      ? readStream(server, options)
      : readAll(server, options)
  let left = fate?.after ?? Number.POSITIVE_INFINITY
  for await (const answer of answers) {
    if (stop.signal.aborted) return
    if (answer.hasEvent() && left-- <= 0) return meet(fate as ReadEnd, call, breakOff)
    if (faults.garbles) answer.getEvent()?.getEvent()?.setData(Buffer.from('{"cut'))
    if (!call.write(answer)) await drained(call, stop.signal)
  }
  if (fate) return meet(fate, call, breakOff)
  call.end()
}

const meet = ({ by }: ReadEnd, call: ReadCall, breakOff: (peer: string) => void) => {
  if (by === 'end') call.end()
  else if (by === 'break') breakOff(call.getPeer())
  else if (by !== 'hang') refuse(call, by)
}

const refuse = (call: ReadCall, refusal: Refusal) => call.emit('error', refusal)

const drained = async (call: ReadCall, signal: AbortSignal) => {
  // A call that was cancelled is never drained.
  await once(call, 'drain', { signal }).catch(() => undefined)
}

async function* readStream(server: ServerLog, options: ReadReq.Options): AsyncGenerator<ReadResp> {
  const asked = options.getStream() as ReadReq.Options.StreamOptions
  const stream = textOf(asked.getStreamIdentifier()?.getStreamName_asU8())
  if (!(await server.exists(stream))) return yield toStreamNotFound(stream)
  const from = asked.hasEnd() ? 'end' : asked.hasRevision() ? Number(asked.getRevision()) : 0
  yield* limited(server.readStream(stream, from, options.getReadDirection() === 1), options)
}

const readAll = (server: ServerLog, options: ReadReq.Options): AsyncGenerator<ReadResp> => {
  const asked = options.getAll() as ReadReq.Options.AllOptions
  const from = asked.hasEnd() ? 'end' : asked.hasStart() ? 'start' : commitOf(asked)
  return limited(server.readAll(from, options.getReadDirection() === 1), options)
}

async function* limited(events: AsyncGenerator<RawEvent>, options: ReadReq.Options): AsyncGenerator<ReadResp> {
  const matches = toFilter(options)
  let left = Number(options.getCount())
  for await (const event of events) {
    if (left <= 0) return
    if (!matches(event)) continue
    left -= 1
    yield toReadAnswer(event)
  }
}

async function* subscribe(server: ServerLog, options: ReadReq.Options, signal: AbortSignal): AsyncGenerator<ReadResp> {
  yield toConfirmation()
  const matches = toFilter(options)
  const filter = options.getFilter()
  const window = (filter?.getMax() || DEFAULT_WINDOW) * (filter?.getCheckpointintervalmultiplier() || 1)
  let lookedAt = 0
  for await (const page of server.log.follow(await startOf(server, options), signal))
    for (const event of page) {
      if (matches(event)) yield toReadAnswer(event)
      lookedAt += 1
      if (filter && lookedAt % window === 0) yield toCheckpoint(event.position)
    }
}

/** The position in the embedded log after which a subscription begins. */
const startOf = async (server: ServerLog, options: ReadReq.Options): Promise<Position> => {
  const asked = options.getAll()
  if (!asked) throw new Error('this server has subscriptions to all streams only')
  if (asked.hasStart()) return BEFORE_FIRST
  return asked.hasEnd() ? server.log.head() : toPosition(commitOf(asked))
}

const commitOf = (asked: ReadReq.Options.AllOptions): bigint => BigInt(asked.getPosition()?.getCommitPosition() ?? 0)
