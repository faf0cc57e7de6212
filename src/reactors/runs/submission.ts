import { setMaxListeners } from 'node:events'
import { MAX_RUN_ATTEMPTS, type RunAttempt, SHOWN_FAULTS } from '../../../schemas/account-events.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Failed, OpenFile, ProviderOutcome, Submitted } from '../../ports/provider.ts'
import type { BreakerChange, CircuitBreakers } from '../../services/providers/circuit-breakers.ts'
import { type ProviderRoute, type Routes, upstreamOf } from '../../services/providers/routes.ts'
import type { RunToDo } from '../../services/runs/starter.ts'
import { delay } from '../../time/timers.ts'
import {
  broken,
  brokenOff,
  CALL_TIMEOUT_MS,
  callProvider,
  cancelled,
  inDoubt,
  stopped,
  unavailable,
} from './provider-calls.ts'
import type { ProviderPermits } from './provider-permits.ts'

/** The default of endpoints: a second and a third attempt, after one and two seconds. */
const DEFAULT_RETRY = { attempts: 3, backOffMs: 1000 }

interface Dependencies {
  routes: Pick<Routes, 'ofMode' | 'passTurn'>
  breakers: CircuitBreakers
  permits: Pick<ProviderPermits, 'movePermit' | 'awaitPermit'>
  clock: Clock
  logger: Logger
  openFile: OpenFile
  /** Receives each piece of a text that somebody wants as it arrives. */
  onText(text: string): void
  /** The outcome of a run whose time limit has ended. */
  timedOut(run: RunToDo): Failed
}

/** Submits one run to its providers until one of them has done it, has accepted it as a job, or refuses. */
export class Submission {
  readonly run: RunToDo
  readonly #dependencies: Dependencies
  readonly #chosen: ProviderRoute | undefined
  readonly #abort = new AbortController()
  /** The outcome if the submission is ended from outside. */
  readonly #ended: Promise<ProviderOutcome | undefined>
  #resolveEnded!: (outcome: ProviderOutcome | undefined) => void
  #route: ProviderRoute | undefined
  #isAsked = false
  readonly #attempts: RunAttempt[] = []
  #text = ''

  /** `chosen` is the route that was found when the run started, if this process started it. */
  constructor(run: RunToDo, chosen: ProviderRoute | undefined, dependencies: Dependencies) {
    this.run = run
    this.#chosen = chosen
    this.#dependencies = dependencies
    // The parts of a call all listen.
    setMaxListeners(Number.POSITIVE_INFINITY, this.#abort.signal)
    this.#ended = new Promise(resolve => {
      this.#resolveEnded = resolve
    })
  }

  /** The route of the answer, or the last route that was tried. */
  get route(): ProviderRoute | undefined {
    return this.#route
  }

  /** Whether the provider of the route may have accepted the run. */
  get isAsked(): boolean {
    return this.#isAsked
  }

  /** The last attempts, if one of them failed. Otherwise the events of the run say as much. */
  get attempts(): RunAttempt[] | undefined {
    const hasFailure = this.#attempts.some(({ failedAt }) => failedAt !== undefined)
    return hasFailure ? this.#attempts.slice(-MAX_RUN_ATTEMPTS) : undefined
  }

  /** The text that has arrived so far. Once there is some, no other attempt is made. */
  get text(): string {
    return this.#text
  }

  /** Resolves to undefined if it was stopped and another process can submit it again. Never rejects. */
  async answer(): Promise<ProviderOutcome | Submitted | undefined> {
    const { startedAt, timeoutMs } = this.run
    const { clock, timedOut } = this.#dependencies
    const nowMs = clock.nowMs()
    // A start that lies ahead was recorded before a clock went back, and counts as now.
    const leftMs = Math.min(Date.parse(startedAt), nowMs) + timeoutMs - nowMs
    // A run that was taken over may have no time left; its work must not be paid for.
    if (leftMs <= 0) return timedOut(this.run)
    const deadline = clock.timer(leftMs, () => this.#end(timedOut(this.run)))
    return Promise.race([this.#ended, this.#submit()]).finally(() => deadline.cancel())
  }

  /** A text so far is a result, since its reader has it. */
  cancel() {
    const text = this.#text
    this.#end(text.trim() === '' ? cancelled : { kind: 'done', media: [], text, finish: 'cancelled' })
  }

  /** Ends the submission because the service stops. Another process submits an async run again if that is safe. */
  stop() {
    const isSafe = this.run.mode === 'async' && this.#route?.account.client.deduplicates && this.#text === ''
    this.#end(isSafe ? undefined : stopped)
  }

  #end(outcome: ProviderOutcome | undefined) {
    this.#resolveEnded(outcome)
    this.#abort.abort()
  }

  async #submit(): Promise<ProviderOutcome | Submitted> {
    const { attempts, backOffMs } = this.run.retry ?? DEFAULT_RETRY
    const { signal } = this.#abort
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#submitToFirst(attempt === 1 ? this.#chosen : undefined)
      if (!mayMoveOn(answer) || attempt >= attempts) return answer
      await delay(this.#dependencies.clock, backOffMs * 2 ** (attempt - 1), signal)
      if (signal.aborted) return answer
    }
  }

  /** Tries one route after another until one takes the run or refuses it for good. */
  async #submitToFirst(chosen: ProviderRoute | undefined): Promise<ProviderOutcome | Submitted> {
    const { routes, permits } = this.#dependencies
    const { runId, endpoint, input } = this.run
    const { signal } = this.#abort
    let answer: ProviderOutcome | Submitted = unavailable(endpoint)
    let full: ProviderRoute | undefined
    for (const route of routes.ofMode(this.run).findRoutes(endpoint, input, chosen)) {
      if (permits.movePermit(runId, route.account.provider)) answer = await this.#submitTo(route)
      else full ??= route
      if (signal.aborted || !mayMoveOn(answer)) return answer
    }
    if (!full) return answer
    await permits.awaitPermit(runId, full.account.provider, signal).catch(() => undefined)
    return signal.aborted ? answer : this.#submitTo(full)
  }

  async #submitTo(route: ProviderRoute): Promise<ProviderOutcome | Submitted> {
    const { clock } = this.#dependencies
    const now = () => new Date(clock.nowMs()).toISOString()
    const attempt: RunAttempt = { ...upstreamOf(route), startedAt: now() }
    this.#attempts.push(attempt)
    const answer = await this.#ask(route)
    if (answer.kind === 'failed' && !this.#abort.signal.aborted)
      this.#attempts.splice(-1, 1, { ...attempt, failedAt: now(), ...shownFailure(answer) })
    return answer
  }

  async #ask(route: ProviderRoute): Promise<ProviderOutcome | Submitted> {
    this.#route = route
    this.#isAsked = true
    const { account, upstream } = route
    const { runId, accountId, endpoint, input, mode, streams = false } = this.run
    const { routes, breakers, clock, logger, openFile } = this.#dependencies
    const { signal: stop } = this.#abort
    const { provider, client } = account
    if (route !== this.#chosen) routes.passTurn(route)
    breakers.beginCall(account, upstream.model)
    let isOver = false
    const onText = (text: string) => {
      if (isOver || stop.aborted) return
      this.#text += text
      this.#dependencies.onText(text)
    }
    try {
      const job = { runId, accountId, endpoint, input, upstream, openFile, ...(streams && { onText }) }
      const submit = async (signal: AbortSignal) => client.submit(job, signal)
      // A sync answer and a stream may take as long as the run, whose time limit ends the call. A late answer must not
      // open the circuit breaker: a client may ask for work that takes too long.
      const answer =
        mode === 'sync' || streams
          ? await Promise.race([submit(stop), this.#ended.then(() => stop.throwIfAborted()) as Promise<never>])
          : await callProvider(clock, CALL_TIMEOUT_MS, submit, stop)
      if (answer.kind === 'failed' && answer.fault)
        logger.warn(
          { runId, endpoint, provider, account: account.account, status: answer.status, ...answer.fault },
          'a provider could not take a job',
        )
      this.#logChange(route, breakers.endCall(account, upstream.model, answer))
      if (this.#text !== '' && mayMoveOn(answer)) return brokenOff
      this.#isAsked = !mayMoveOn(answer)
      return answer
    } catch (error) {
      if (stop.aborted) {
        breakers.abandonCall(account, upstream.model)
        return broken
      }
      logger.warn({ err: error, runId, endpoint, provider }, 'a provider did not answer')
      this.#logChange(route, breakers.endCall(account, upstream.model, undefined))
      if (this.#text !== '') return brokenOff
      return client.deduplicates ? broken : inDoubt
    } finally {
      isOver = true
    }
  }

  #logChange(
    { account: { provider, account }, upstream: { model } }: ProviderRoute,
    { fault: kind, opened }: BreakerChange,
  ) {
    const { clock, logger } = this.#dependencies
    if (kind === 'gone') logger.error({ provider, account, model }, GONE)
    else if (kind) logger.error({ provider, account, kind }, REFUSED)
    if (!opened) return
    const { untilMs, ...waiting } = opened
    const until = new Date(clock.nowMs() + untilMs - clock.monotonicMs()).toISOString()
    logger.warn({ ...waiting, until }, WAITS)
  }
}

/** The account gets no jobs until an attempt, now and then, succeeds. */
const REFUSED = 'a provider refuses the account; check its key, credit and quota with "tollgate providers check"'

/** Other inputs may work, such as another voice, so the breaker of the model opens only after some failures. */
const GONE = 'a provider does not offer the model to the account; check its list of models, or disable the binding'

/** Runs that are refused meanwhile only have the line of their request. */
const WAITS =
  'a circuit breaker opened: no jobs until the time in "until", then one attempt at a time until one succeeds'

/** Why an attempt failed, for the owner of the run. Problems of the operator's account are only a `provider_error`. */
const shownFailure = ({ code, fault, status }: Failed): Pick<RunAttempt, 'status' | 'reason'> => {
  const reason = SHOWN_FAULTS.find(kind => kind === fault?.kind) ?? code
  return { ...(status !== undefined && reason !== 'provider_error' && { status }), reason }
}

const mayMoveOn = (answer: ProviderOutcome | Submitted) => answer.kind === 'failed' && answer.retryable === true
