import type { UUID } from '@eventstore/db-client/generated/shared_pb.js'
import type { IStreamsServer } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { type BatchOutcome, toBatchAnswer } from './batch-answers.ts'
import { maximumAppendSizeExceeded, type Refusal, toRefusal } from './faults.ts'
import { type Proposal, sizeOf, textOf, toProposedAppend } from './messages.ts'
import { toStructured, toUuidText } from './uuids.ts'
import { MAX_APPEND_BYTES, requiresLeader, type Write } from './writes.ts'

/** The server's default wait for the rest of an append; requests can lower it. */
const WRITE_TIMEOUT_MS = 2000

/** An incomplete append. */
interface Pending {
  options: BatchAppendReq.Options
  stream: string
  proposals: Proposal[]
  bytes: number
  timer: NodeJS.Timeout | undefined
}

/** Many appends on one call. They reach the log in order, and are answered in any order. */
export const batchAppend =
  (write: Write): IStreamsServer['batchAppend'] =>
  call => {
    const pending = new Map<string, Pending>()
    const about = { requiresLeader: requiresLeader(call.metadata), inBatch: true, peer: call.getPeer() }
    let isClosing = false

    const answer = (id: UUID | undefined, stream: string | undefined, outcome: BatchOutcome) => {
      if (!call.writable) return
      call.write(toBatchAnswer(id, stream, outcome))
      // Seen in the sources of 23.10.6 and 24.10.4: after the client ends its half, the server answers one more append
      // and ends the call, whatever else is pending. Without another append, it never ends the call.
      if (isClosing) call.end()
    }
    const refuse = (id: UUID | undefined, stream: string | undefined, refusal: Refusal) => {
      if (refusal.inBatch) answer(id, stream, { refuse: refusal.inBatch })
      else if (call.writable) call.emit('error', refusal)
    }

    const begin = (request: BatchAppendReq, options: BatchAppendReq.Options): Pending | undefined => {
      const id = request.getCorrelationId()
      const bad = (text: string) => answer(id, undefined, { refuse: { details: 'BadRequest', text } })
      const name = options.getStreamIdentifier()?.getStreamName_asU8()
      if (!name) return void bad('Required field StreamIdentifier not set.')
      const stream = textOf(name)
      const deadline = options.getDeadline()?.toDate().getTime() ?? Number.POSITIVE_INFINITY
      const timeoutMs = Math.min(deadline - Date.now(), WRITE_TIMEOUT_MS)
      if (timeoutMs <= 0) return void answer(id, stream, { refuse: { details: 'Timeout' } })
      if (options.getExpectedStreamPositionCase() === 0) return void bad("'None' is not a valid expectation")
      return {
        options,
        stream,
        proposals: [],
        bytes: 0,
        timer: request.getIsFinal() ? undefined : expire(id, timeoutMs),
      }
    }

    /** The only response whose id has the server's own form. */
    const expire = (id: UUID | undefined, timeoutMs: number) =>
      setTimeout(() => {
        const key = toUuidText(id)
        const stream = pending.get(key)?.stream
        if (pending.delete(key)) answer(toStructured(key), stream, { refuse: { details: 'Timeout' } })
      }, timeoutMs)

    const take = async (request: BatchAppendReq) => {
      const id = request.getCorrelationId()
      const key = toUuidText(id)
      const options = request.getOptions()
      const append = pending.get(key) ?? (options && begin(request, options))
      // Dependencies of unknown appends are ignored.
      if (!append) return
      const proposals = request.getProposedMessagesList()
      append.proposals.push(...proposals)
      append.bytes += sizeOf(proposals)
      const isTooLarge = append.bytes > MAX_APPEND_BYTES
      if (!isTooLarge && !request.getIsFinal()) return void pending.set(key, append)
      pending.delete(key)
      clearTimeout(append.timer)
      if (isTooLarge) return refuse(id, append.stream, maximumAppendSizeExceeded(MAX_APPEND_BYTES))
      try {
        const outcome = await write(toProposedAppend(append.options, append.proposals), about)
        if (outcome && 'refuse' in outcome) refuse(id, append.stream, outcome.refuse)
        else if (outcome) answer(id, append.stream, outcome)
      } catch (error) {
        refuse(id, append.stream, toRefusal(error))
      }
    }

    call.on('data', take)
    call.on('error', () => undefined)
    call.on('end', () => {
      isClosing = true
    })
    call.on('close', () => {
      for (const { timer } of pending.values()) clearTimeout(timer)
    })
  }
