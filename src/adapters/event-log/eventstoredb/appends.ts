import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { Status } from '@eventstore/db-client/generated/status_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ClientDuplexStream } from '@grpc/grpc-js'
import type { Position } from '../../../../schemas/recorded.ts'
import { RevisionConflict } from '../../../ports/event-log.ts'
import { isNotLeader, Refused, toAppendFault, toEventStoreFault, wasNotSent } from './faults.ts'
import { toAppendNumber, toCorrelationId, toPosition } from './messages.ts'

export interface Append {
  stream: string
  expectedRevision: number
  message: BatchAppendReq
}

/** Has no position if the server recognised a repeated append. */
export interface AppendAnswer {
  revision: number
  position: Position | undefined
}

export interface AppendOptions {
  /** The time without a response after which the server counts as slow. */
  slowAfterMs: number
  onSlow(): void
  /** The time without a response after which an append is in doubt. */
  appendTimeoutMs: number
}

interface Pending {
  append: Append
  sinceMs: number
  resolve(answer: AppendAnswer): void
  reject(error: unknown): void
}

/** How often timeouts are checked. */
const CHECK_EVERY_MS = 50

/**
 * All appends to a server over one bidirectional call. A correlation ID matches each response to its append. If the
 * call breaks, pending appends are in doubt.
 */
export class Appends {
  readonly #call: ClientDuplexStream<BatchAppendReq, BatchAppendResp>
  readonly #place: string
  readonly #options: AppendOptions
  readonly #pending = new Map<number, Pending>()
  #last = 0
  #hasAnswered = false
  #hasTimedOut = false
  #timer: NodeJS.Timeout | undefined
  #isOpen = true

  constructor(call: ClientDuplexStream<BatchAppendReq, BatchAppendResp>, place: string, options: AppendOptions) {
    this.#call = call
    this.#place = place
    this.#options = options
    call.on('data', answer => this.#take(answer))
    call.on('error', error => this.#fail(error))
    call.on('end', () => this.#fail(new Error('the server ended the call')))
  }

  /** Whether the call accepts more appends. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * Rejects with RevisionConflict, with Unavailable if nothing was written, or with another error if the outcome is
   * unknown.
   */
  append(append: Append): Promise<AppendAnswer> {
    return new Promise((resolve, reject) => {
      this.#last += 1
      this.#pending.set(this.#last, { append, sinceMs: performance.now(), resolve, reject })
      this.#timer ??= setInterval(() => this.#check(), CHECK_EVERY_MS)
      this.#call.write(append.message.setCorrelationId(toCorrelationId(this.#last)))
    })
  }

  close() {
    this.#fail(new Error('the connection was closed'))
    this.#call.cancel()
  }

  #take(answer: BatchAppendResp) {
    this.#hasAnswered = true
    const pending = this.#remove(toAppendNumber(answer))
    // Already timed out.
    if (!pending) return
    const error = answer.getError()
    try {
      if (error) pending.reject(this.#toFault(pending.append, error))
      else pending.resolve(toAnswer(answer))
    } catch (error) {
      pending.reject(error)
    }
  }

  #remove(number: number): Pending | undefined {
    const pending = this.#pending.get(number)
    this.#pending.delete(number)
    if (this.#pending.size > 0) return pending
    this.#stopChecking()
    // Frees the memory of messages that the server has not read.
    if (!this.#isOpen) this.#call.cancel()
    return pending
  }

  #toFault({ stream, expectedRevision }: Append, error: Status): Error {
    const details = error.getDetails()
    const type = details?.getTypeName() ?? ''
    const message = details?.unpack(shared.BadRequest.deserializeBinary, 'event_store.client.BadRequest')?.getMessage()
    if (type.endsWith('.WrongExpectedVersion')) return new RevisionConflict(stream, expectedRevision)
    if (type.endsWith('.Timeout')) this.#options.onSlow()
    return toAppendFault(type, message ?? error.getMessage(), this.#place)
  }

  #check() {
    const { slowAfterMs, onSlow, appendTimeoutMs } = this.#options
    const now = performance.now()
    const [oldest] = this.#pending.values()
    if (oldest && now - oldest.sinceMs >= slowAfterMs) onSlow()
    // Oldest first.
    for (const [number, { sinceMs, reject }] of this.#pending) {
      if (now - sinceMs < appendTimeoutMs) break
      this.#hasTimedOut = true
      this.#isOpen = false
      this.#remove(number)
      reject(new Error(`${this.#place} did not answer an append within ${appendTimeoutMs} ms`))
    }
  }

  #fail(cause: Error) {
    this.#isOpen = false
    this.#stopChecking()
    const open = [...this.#pending.values()]
    this.#pending.clear()
    const fault = toEventStoreFault(cause, this.#place, 'append')
    // A server that is not the leader ends the call at the first append that it refuses, without naming the append.
    const isCertain = isNotLeader(cause)
      ? open.length === 1 && !this.#hasTimedOut
      : wasNotSent(cause) || (fault instanceof Refused && !this.#hasAnswered)
    for (const { reject } of open) reject(isCertain ? fault : new Error(fault.message, { cause: fault }))
  }

  #stopChecking() {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

const toAnswer = (answer: BatchAppendResp): AppendAnswer => {
  const success = answer.getSuccess()
  const position = success?.getPosition()
  return {
    revision: Number(success?.getCurrentRevision()),
    position: position && toPosition(position.getCommitPosition()),
  }
}
