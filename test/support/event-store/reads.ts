import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { IStreamsServer } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { type Faults, type ReadEnd, type ReadRequest, type Refusal, Refused, toRefusal } from './faults.ts'
import { BATCH, type ServerLog } from './log.ts'
import { textOf, toFilter, toReadAnswer, toStreamNotFound } from './messages.ts'
import { commitOf, startOf, subscribe } from './subscriptions.ts'
import { type Role, requiresLeader } from './writes.ts'

interface ReadOptions {
  server: ServerLog
  faults: Faults
  version: string
  role: Role
  breakOff(peer: string): void
}

type ReadCall = ServerWritableStream<ReadReq, ReadResp>

export const read =
  (options: ReadOptions): IStreamsServer['read'] =>
  call => {
    answer(options, call).catch(error => refuse(call, toRefusal(error)))
  }

const answer = async ({ server, faults, version, role, breakOff }: ReadOptions, call: ReadCall) => {
  const options = call.request.getOptions()
  if (!options) throw new Error('no options')
  const stop = new AbortController()
  call.on('cancelled', () => stop.abort())
  call.on('close', () => stop.abort())
  call.on('error', () => undefined)
  const request = toRequest(options, requiresLeader(call.metadata))
  const fate =
    request.kind === 'subscription'
      ? faults.subscription?.(await startOf(server, options), request)
      : faults.read?.(request)
  if (faults.delayMs) await delay(faults.delayMs)
  if (fate && 'refuse' in fate) throw new Refused(fate.refuse)

  const mayRead = () => {
    const refusal = role(request.requiresLeader)
    if (refusal) throw new Refused(refusal)
  }
  const answers =
    request.kind === 'subscription'
      ? subscribe({ server, options, version, mayRead, signal: stop.signal })
      : request.kind === 'stream'
        ? readStream(server, options, mayRead)
        : readAll(server, options, mayRead)
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

const toRequest = (options: ReadReq.Options, requiresLeader: boolean): ReadRequest => {
  const identifier = options.getStream()?.getStreamIdentifier()
  const kind = options.hasSubscription() ? 'subscription' : options.hasStream() ? 'stream' : 'all'
  return { kind, stream: identifier && textOf(identifier.getStreamName_asU8()), requiresLeader }
}

const meet = ({ by }: ReadEnd, call: ReadCall, breakOff: (peer: string) => void) => {
  if (by === 'end') call.end()
  else if (by === 'break') breakOff(call.getPeer())
  else if (by !== 'hang') refuse(call, by)
}

const refuse = (call: ReadCall, refusal: Refusal) => call.emit('error', refusal)

const drained = async (call: ReadCall, signal: AbortSignal) => {
  // A cancelled call never drains.
  await once(call, 'drain', { signal }).catch(() => undefined)
}

async function* readStream(server: ServerLog, options: ReadReq.Options, mayRead: () => void): AsyncGenerator<ReadResp> {
  const streamOptions = options.getStream() as ReadReq.Options.StreamOptions
  const stream = textOf(streamOptions.getStreamIdentifier()?.getStreamName_asU8())
  const from = streamOptions.hasEnd() ? 'end' : streamOptions.hasRevision() ? Number(streamOptions.getRevision()) : 0
  let isEmpty = true
  for await (const answer of limited(server.readStream(stream, from, isBackwards(options)), options, mayRead)) {
    isEmpty = false
    yield answer
  }
  if (isEmpty && !(await server.exists(stream))) yield toStreamNotFound(stream)
}

const readAll = (server: ServerLog, options: ReadReq.Options, mayRead: () => void): AsyncGenerator<ReadResp> => {
  const allOptions = options.getAll() as ReadReq.Options.AllOptions
  const from = allOptions.hasEnd() ? 'end' : allOptions.hasStart() ? 'start' : commitOf(allOptions)
  return limited(server.readAll(from, isBackwards(options)), options, mayRead)
}

const isBackwards = (options: ReadReq.Options) => options.getReadDirection() === 1

async function* limited(
  events: AsyncGenerator<RawEvent>,
  options: ReadReq.Options,
  mayRead: () => void,
): AsyncGenerator<ReadResp> {
  const matches = toFilter(options)
  const count = Number(options.getCount())
  let read = 0
  mayRead()
  for await (const event of events) {
    if (read >= count) return
    if (!matches(event)) continue
    if (read > 0 && read % BATCH === 0) mayRead()
    read += 1
    yield toReadAnswer(event, options)
  }
}
