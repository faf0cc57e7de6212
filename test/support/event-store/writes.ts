import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import type { IStreamsServer } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { AppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { type Metadata, status } from '@grpc/grpc-js'
import { type AppendRequest, type Faults, maximumAppendSizeExceeded, type Refusal, toRefusal } from './faults.ts'
import type { Expected, ServerLog, Written } from './log.ts'
import { type ProposedAppend, toAppendAnswer, toProposedAppend } from './messages.ts'

/** The server's default. */
export const MAX_APPEND_BYTES = 1024 * 1024

/** Why the server currently refuses requests, or those that require the leader. */
export type Role = (requiresLeader: boolean) => Refusal | undefined

/** Writes an append, or applies a test's fault. Undefined means no response. */
export type Write = (
  append: ProposedAppend,
  about: Omit<AppendRequest, 'stream'> & { peer: string },
) => Promise<Outcome | undefined>

export type Outcome = { refuse: Refusal } | { written: Written; expected: Expected }

/** Must not await before the log unless a fault says so, because appends must reach it in order. */
export const toWrite =
  (server: ServerLog, faults: Faults, refusedNow: Role, breakOff: (peer: string) => void): Write =>
  async ({ stream, events, expected }, { requiresLeader, inBatch, peer }) => {
    const fate = faults.append?.({ stream, requiresLeader, inBatch })
    if (faults.delayMs) await delay(faults.delayMs)
    if (fate === 'broken before') breakOff(peer)
    if (fate === 'broken before' || fate === 'unheard') return undefined
    const injected = typeof fate === 'object' ? fate : undefined
    if (injected && 'refuse' in injected) return injected
    if (injected && 'wrongExpected' in injected) return { written: injected, expected }
    if (injected && 'afterMs' in injected) await delay(injected.afterMs)
    const refuse = refusedNow(requiresLeader)
    if (refuse) return { refuse }
    const written = await server.append(stream, events, expected)
    if (injected && 'writtenBut' in injected) return { refuse: injected.writtenBut }
    if (injected && 'answeredAfterMs' in injected) await delay(injected.answeredAfterMs)
    if (fate === 'broken after') breakOff(peer)
    if (fate === 'broken after' || fate === 'unanswered') return undefined
    return { written: hidden(written, faults), expected }
  }

/** A call with a single append. */
export const append =
  (write: Write): IStreamsServer['append'] =>
  (call, answer) => {
    const requests: AppendReq[] = []
    call.on('data', request => requests.push(request))
    call.on('error', () => undefined)
    call.on('end', async () => {
      // An aborted call also ends, but is no append.
      await setImmediate()
      if (call.cancelled) return
      const options = requests[0]?.getOptions()
      if (!options) return answer({ code: status.INVALID_ARGUMENT, details: 'no options' })
      try {
        const append = toProposedAppend(
          options,
          requests.slice(1).flatMap(request => request.getProposedMessage() ?? []),
        )
        if (append.bytes > MAX_APPEND_BYTES) return answer(maximumAppendSizeExceeded(MAX_APPEND_BYTES))
        const about = { requiresLeader: requiresLeader(call.metadata), inBatch: false, peer: call.getPeer() }
        const outcome = await write(append, about)
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
