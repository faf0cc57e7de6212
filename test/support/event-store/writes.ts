import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import type { IStreamsServer } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { AppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { type Metadata, status } from '@grpc/grpc-js'
import { type AppendAsked, type Faults, maximumAppendSizeExceeded, type Refusal, toRefusal } from './faults.ts'
import type { Expected, ServerLog, Written } from './log.ts'
import { type Asked, toAppendAnswer, toAsked } from './messages.ts'

/** As a server is shipped. */
export const MAX_APPEND_BYTES = 1024 * 1024

/** Why the server takes no requests now, or none that require the leader of its cluster. */
export type Role = (requiresLeader: boolean) => Refusal | undefined

/** Writes an append, or lets happen to it what a test asks for. Undefined when there shall be no answer. */
export type Write = (
  asked: Asked,
  about: Omit<AppendAsked, 'stream'> & { peer: string },
) => Promise<Outcome | undefined>

export type Outcome = { refuse: Refusal } | { written: Written; expected: Expected }

/** Up to the log nothing is waited for unless a fault says so, since appends must get there in their order. */
export const toWrite =
  (server: ServerLog, faults: Faults, refusedNow: Role, breakOff: (peer: string) => void): Write =>
  async ({ stream, events, expected }, { requiresLeader, inBatch, peer }) => {
    const fate = faults.append?.({ stream, requiresLeader, inBatch })
    if (faults.delayMs) await delay(faults.delayMs)
    if (fate === 'broken before') breakOff(peer)
    if (fate === 'broken before' || fate === 'unheard') return undefined
    const told = typeof fate === 'object' ? fate : undefined
    if (told && 'refuse' in told) return told
    if (told && 'wrongExpected' in told) return { written: told, expected }
    if (told && 'afterMs' in told) await delay(told.afterMs)
    const refuse = refusedNow(requiresLeader)
    if (refuse) return { refuse }
    const written = await server.append(stream, events, expected)
    if (told && 'writtenBut' in told) return { refuse: told.writtenBut }
    if (told && 'answeredAfterMs' in told) await delay(told.answeredAfterMs)
    if (fate === 'broken after') breakOff(peer)
    if (fate === 'broken after' || fate === 'unanswered') return undefined
    return { written: hidden(written, faults), expected }
  }

/** One append on a call. */
export const append =
  (write: Write): IStreamsServer['append'] =>
  (call, answer) => {
    const requests: AppendReq[] = []
    call.on('data', request => requests.push(request))
    call.on('error', () => undefined)
    call.on('end', async () => {
      // A call that breaks off before its end ends as well, and is no append.
      await setImmediate()
      if (call.cancelled) return
      const options = requests[0]?.getOptions()
      if (!options) return answer({ code: status.INVALID_ARGUMENT, details: 'no options' })
      try {
        const asked = toAsked(
          options,
          requests.slice(1).flatMap(request => request.getProposedMessage() ?? []),
        )
        if (asked.bytes > MAX_APPEND_BYTES) return answer(maximumAppendSizeExceeded(MAX_APPEND_BYTES))
        const about = { requiresLeader: requiresLeader(call.metadata), inBatch: false, peer: call.getPeer() }
        const outcome = await write(asked, about)
        if (!outcome) return
        if ('refuse' in outcome) answer(outcome.refuse)
        else answer(null, toAppendAnswer(outcome.written, outcome.expected))
      } catch (error) {
        answer(toRefusal(error))
      }
    })
  }

export const requiresLeader = (metadata: Metadata): boolean => String(metadata.get('requires-leader')[0]) === 'true'

const hidden = (written: Written, { hidesPositionOfRepeated }: Faults): Written =>
  'repeated' in written && written.repeated && hidesPositionOfRepeated ? { ...written, position: undefined } : written
