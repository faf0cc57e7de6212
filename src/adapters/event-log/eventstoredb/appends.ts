import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { Status } from '@eventstore/db-client/generated/status_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ClientDuplexStream } from '@grpc/grpc-js'
import type { Position } from '../../../../schemas/recorded.ts'
import { RevisionConflict } from '../../../ports/event-log.ts'
import { NotTaken, toAppendFault, toEventStoreFault } from './faults.ts'
import { toAppendNumber, toCorrelationId } from './messages.ts'
import { toPosition } from './positions.ts'

export interface AppendRequest {
  stream: string
  expectedRevision: number
  request: BatchAppendReq
}

/** Without a position where the server only knows that it has the events already. */
export interface AppendAnswer {
  revision: number
  position: Position | undefined
}

export interface AppendLimits {
  /** How long an answer may take until the server counts as slow, and who is told then. */
  slowAfterMs: number
  slow(): void
  /** How long it may take until the outcome is left open. */
  appendTimeoutMs: number
}

interface Pending {
  append: AppendRequest
  sinceMs: number
  resolve(answer: AppendAnswer): void
  reject(error: unknown): void
}

/** How exactly the time limits of appends are kept. */
const CHECK_EVERY_MS = 50

/**
 * The appends to a server, over one call in both directions: many are under way, and answers are told apart by the number
 * that each append bears. When the call breaks, those without an answer are in doubt, and no others.
 */
export class Appends {
  readonly #call: ClientDuplexStream<BatchAppendReq, BatchAppendResp>
  readonly #place: string
  readonly #limits: AppendLimits
  readonly #pending = new Map<number, Pending>()
  #last = 0
  #hasAnswered = false
  #timer: NodeJS.Timeout | undefined
  #isOpen = true

  constructor(call: ClientDuplexStream<BatchAppendReq, BatchAppendResp>, place: string, limits: AppendLimits) {
    this.#call = call
    this.#place = place
    this.#limits = limits
    call.on('data', answer => this.#take(answer))
    call.on('error', error => this.#fail(error))
    call.on('end', () => this.#fail(new Error('the server has ended the call')))
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * Rejects with RevisionConflict, with Unavailable where nothing was written, and else with an error that leaves open
   * whether it was.
   */
  append(append: AppendRequest): Promise<AppendAnswer> {
    return new Promise((resolve, reject) => {
      this.#last += 1
      this.#pending.set(this.#last, { append, sinceMs: performance.now(), resolve, reject })
      this.#timer ??= setInterval(() => this.#check(), CHECK_EVERY_MS)
      this.#call.write(append.request.setCorrelationId(toCorrelationId(this.#last)))
    })
  }

  close() {
    this.#fail(new Error('the connection was closed'))
    this.#call.cancel()
  }

  #take(answer: BatchAppendResp) {
    this.#hasAnswered = true
    const number = toAppendNumber(answer)
    const pending = this.#pending.get(number)
    // Too late: it was given up.
    if (!pending) return
    this.#pending.delete(number)
    if (this.#pending.size === 0) this.#stopChecking()
    const error = answer.getError()
    try {
      if (error) pending.reject(this.#toFault(pending.append, error))
      else pending.resolve(toAnswer(answer))
    } catch (error) {
      pending.reject(error)
    }
  }

  #toFault({ stream, expectedRevision }: AppendRequest, error: Status): Error {
    const details = error.getDetails()
    const type = details?.getTypeName() ?? ''
    const said = details?.unpack(shared.BadRequest.deserializeBinary, 'event_store.client.BadRequest')?.getMessage()
    if (type.endsWith('.WrongExpectedVersion')) return new RevisionConflict(stream, expectedRevision)
    if (type.endsWith('.Timeout')) this.#limits.slow()
    return toAppendFault(type, said ?? error.getMessage(), this.#place)
  }

  #check() {
    const { slowAfterMs, slow, appendTimeoutMs } = this.#limits
    const now = performance.now()
    let oldestMs = 0
    for (const [number, { sinceMs, reject }] of this.#pending) {
      oldestMs = Math.max(oldestMs, now - sinceMs)
      // They are in the order in which they were made.
      if (now - sinceMs < appendTimeoutMs) break
      this.#pending.delete(number)
      reject(new Error(`${this.#place} did not answer an append within ${appendTimeoutMs} ms`))
    }
    if (oldestMs >= slowAfterMs) slow()
    if (this.#pending.size === 0) this.#stopChecking()
  }

  #fail(cause: Error) {
    this.#isOpen = false
    this.#stopChecking()
    const open = [...this.#pending.values()]
    this.#pending.clear()
    const fault = toEventStoreFault(cause, this.#place, 'append')
    // A server that does not lead ends the call at the first append that it does not take. Which of several that was, nobody knows.
    const isCertain = isNotLeader(cause) ? open.length === 1 : !this.#hasAnswered
    const isOpen = fault instanceof NotTaken && !isCertain
    for (const { reject } of open) reject(isOpen ? new Error(fault.message, { cause: fault }) : fault)
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

const isNotLeader = (cause: Error & { metadata?: { get(key: string): unknown[] } }): boolean =>
  String(cause.metadata?.get('exception')[0]) === 'not-leader'
