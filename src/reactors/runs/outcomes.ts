import { WATCH_AFTER_MS } from '../../../projections/due.ts'
import { runKey } from '../../../projections/runs.ts'
import type {
  AccountEvent,
  ProviderCost,
  RunErrorCode,
  Upstream,
  WorkedUpstream,
} from '../../../schemas/account-events.ts'
import type { TokenUsage } from '../../../schemas/catalog.ts'
import { type AccountId, SANDBOX } from '../../../schemas/primitives.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { WatchTask } from '../../../schemas/views.ts'
import type { AccountCommand, Worked } from '../../domain/account/commands.ts'
import { isTestEndpoint, outputTypeOf } from '../../domain/catalog/family.ts'
import { countTokens } from '../../domain/catalog/tokens.ts'
import { reportedTokens } from '../../domain/routing/list-price.ts'
import { visible } from '../../domain/visible-text.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import { OutboundError } from '../../ports/outbound.ts'
import type { Done, Failed, ProviderOutcome } from '../../ports/provider.ts'
import type { Random } from '../../ports/random.ts'
import type { AccountMailboxes } from '../../services/accounts/account-mailboxes.ts'
import { mayBeBilled, providerCost } from '../../services/providers/provider-cost.ts'
import type { Routes } from '../../services/providers/routes.ts'
import { readQueuedRun, readRunInput } from '../../services/runs/run-inputs.ts'
import type { RunToDo } from '../../services/runs/starter.ts'
import type { Reads } from '../../services/views/reads.ts'
import { retryUntilAvailable } from '../../time/timers.ts'
import { type Artifacts, promisedResult, settledAtMs } from './artifacts.ts'
import { broken, brokenOff, stopped } from './provider-calls.ts'
import { UnfitResult } from './result-file.ts'
import type { Submission } from './submission.ts'

/** The longest error message of a provider that an event holds. */
const MAX_MESSAGE_LENGTH = 1000

/** The longest version of a model that an event holds. */
const MAX_VERSION_LENGTH = 200

interface OutcomesDependencies extends RunCostsDependencies {
  accounts: AccountMailboxes
  reads: Pick<Reads, 'getOwn' | 'missing'>
  artifacts: Artifacts
  clock: Clock
  /** Whether to try again while the log is unavailable. */
  mayRetry(): boolean
  /** Aborts when a stop no longer waits for results to be stored. */
  lastCall: AbortSignal
}

/** Records the outcomes of runs at providers. */
export class Outcomes {
  readonly #dependencies: OutcomesDependencies

  constructor(dependencies: OutcomesDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Stores a run's result and ends the run. Resolves to the events that ended it, or to none. `upstream` was asked to
   * do it, unless its submission says otherwise.
   */
  async endRun(
    run: EndedRun & BilledRun,
    outcome: ProviderOutcome,
    upstream?: Upstream,
    { isAsked, attempts }: Pick<Submission, 'isAsked' | 'attempts'> = { isAsked: true, attempts: undefined },
  ): Promise<Recorded<AccountEvent>[]> {
    const cost = upstream && isAsked ? await runCost(this.#dependencies, run, outcome, upstream) : undefined
    const command = await this.#toCommand(run, outcome, {
      upstream: upstream && worked(upstream, outcome),
      ...{ cost, attempts },
    })
    if (!command) return []
    const isKept = run.store !== false
    const recorded = await this.recordCommand(run.accountId, isKept ? command : withoutContent(command))
    const ended = isKept ? recorded : withContent(recorded, command)
    if (ended.length === 0 && outcome.kind === 'done') await this.#discardResult(run)
    return ended
  }

  /** Records a command, however long the log accepts no writes. A refusal means that another process was first. */
  async recordCommand(accountId: AccountId, command: AccountCommand): Promise<Recorded<AccountEvent>[]> {
    const { accounts, clock, logger, mayRetry } = this.#dependencies
    const outcome = await retryUntilAvailable(
      clock,
      () => accounts.execute({ kind: 'reactor' }, accountId, command),
      mayRetry,
    )
    if (!('refuse' in outcome)) return outcome.accept
    logger.warn({ command: command.type, ...outcome.refuse }, 'an outcome came after the run had ended')
    return []
  }

  /**
   * Deletes what this process has stored of a run that another process has ended. Due work deletes only what the end
   * names, and may have done so before this process stored its files.
   */
  async #discardResult({ accountId, runId }: EndedRun): Promise<void> {
    const { artifacts, clock, mayRetry, reads } = this.#dependencies
    const discard = async () => {
      const key = runKey(accountId, runId)
      const row = await reads.getOwn(accountId, 'runs', key)
      if (row?.completedAt === undefined) throw reads.missing('runs', key)
      await artifacts.discard(runId, row.outputDeletedAt === undefined ? row.output : undefined)
    }
    await retryUntilAvailable(clock, discard, mayRetry)
  }

  /**
   * Undefined for an async run whose result could not be stored before the stop: the next process ends it. Rejects with
   * Unavailable.
   */
  async #toCommand(
    run: EndedRun & BilledRun,
    outcome: ProviderOutcome,
    done: Worked,
  ): Promise<AccountCommand | undefined> {
    const { runId, mode, endpoint } = run
    const { artifacts, clock, lastCall, log, logger } = this.#dependencies
    const fail = (failed: Failed): AccountCommand => {
      const willDeleteAt = leftFilesUntil(run, outcome, clock) ?? (run.long && artifacts.keptUntil())
      return { type: 'FailRun', runId, error: toRunError(failed), willDeleteAt, ...done }
    }
    if (outcome.kind === 'failed') return fail(outcome)
    const promised = await promisedResult(endpoint, () => inputOf(log, run))
    try {
      const { startedAt = new Date(clock.nowMs()).toISOString() } = run
      const place = {
        ...run,
        startedAt,
        provider: done.upstream?.provider,
        hasInputFiles: run.long !== undefined,
        store: run.store,
      }
      const beganMs = clock.monotonicMs()
      const output = await artifacts.store(place, outcome, promised, lastCall)
      const storingMs = output.artifacts.length > 0 ? Math.round(clock.monotonicMs() - beganMs) : undefined
      const usage = await runUsage(this.#dependencies, run, outcome, done.upstream)
      const { finish: finishReason } = outcome
      const facts = { ...(usage && { usage }), ...(finishReason && { finishReason }) }
      return { type: 'CompleteRun', runId, output, storingMs, ...facts, ...done }
    } catch (error) {
      if (lastCall.aborted) return mode === 'async' ? undefined : fail(stopped)
      const { provider, model, account } = done.upstream ?? {}
      const binding = { endpoint, provider, model, account }
      logger.error({ err: error, runId, ...binding }, error instanceof UnfitResult ? UNFIT : NOT_STORED)
      return fail({ kind: 'failed', code: 'provider_error', message: messageFor(error) })
    }
  }
}

const UNFIT =
  'a provider did not return what the endpoint promises; try the binding, and disable it if it does so often'
const NOT_STORED = 'a result could not be stored'

const messageFor = (error: unknown): string => {
  if (error instanceof UnfitResult) return error.message
  return `The result could not be stored.${error instanceof OutboundError ? ` ${error.message}` : ''}`
}

/** An end without the text of the model, and without the message of its provider, which may repeat the input. */
const withoutContent = (command: AccountCommand): AccountCommand => {
  if (command.type === 'FailRun' && !OWN_MESSAGES.includes(command.error.code))
    return { ...command, error: { ...command.error, message: NOT_KEPT } }
  if (command.type !== 'CompleteRun') return command
  const { text: _text, toolCalls: _calls, ...output } = command.output
  return { ...command, output }
}

/** The failures whose messages are fixed texts of this service. */
const OWN_MESSAGES: RunErrorCode[] = ['interrupted', 'cancelled', 'provider_timeout']

const NOT_KEPT = 'The reason was in the response to the request, and was not kept.'

/** The events of an end with its content, for the client that waits for it. */
const withContent = (recorded: Recorded<AccountEvent>[], command: AccountCommand): Recorded<AccountEvent>[] =>
  recorded.map(event => {
    if (event.type === 'RunCompleted' && command.type === 'CompleteRun')
      return { ...event, data: { ...event.data, output: command.output } }
    if (event.type === 'RunFailed' && command.type === 'FailRun')
      return { ...event, data: { ...event.data, error: command.error } }
    return event
  })

/** A version may hold half of a character, also after it is cut. */
const worked = (upstream: Upstream, { work }: ProviderOutcome): WorkedUpstream => ({
  ...upstream,
  ...(work?.version && { version: work.version.slice(0, MAX_VERSION_LENGTH).toWellFormed() }),
})

/** A message may be empty or too long, and the cut may split a character. */
const toRunError = ({ code, message }: Failed) => ({
  code,
  message: visible(message).slice(0, MAX_MESSAGE_LENGTH).toWellFormed() || 'The provider gave no reason.',
})

interface RunCostsDependencies {
  routes: Pick<Routes, 'priceListOf'>
  random: Pick<Random, 'hex'>
  log: Pick<EventLog, 'readEvent'>
  logger: Logger
}

const SALT_BYTES = 16

/** A run with its input, or with the place of the event that holds the input. */
export type BilledRun = Pick<WatchTask, 'accountId' | 'runId' | 'endpoint'> &
  ({ input: Record<string, unknown> } | Pick<WatchTask, 'queuedRevision'>)

/** Rejects like `readRunInput`. */
const inputOf = async (log: RunCostsDependencies['log'], run: BilledRun): Promise<Record<string, unknown>> =>
  'input' in run ? run.input : readRunInput(log, run)

/**
 * What an upstream that was asked to do a run may bill for it; undefined if it bills nothing. Rejects with Unavailable.
 */
const runCost = async (
  { routes, random, log, logger }: RunCostsDependencies,
  run: BilledRun,
  outcome: ProviderOutcome,
  upstream: Upstream,
): Promise<ProviderCost | undefined> => {
  if (upstream.provider === SANDBOX || !(mayBeBilled(outcome) || outcome === broken || outcome === brokenOff))
    return undefined
  const salt = random.hex(SALT_BYTES)
  const price = routes.priceListOf(run.endpoint, upstream)
  if (!price) return { ...providerCost(outcome, undefined, {}), salt }
  try {
    const { input, store } = 'input' in run ? { input: run.input, store: undefined } : await readQueuedRun(log, run)
    // What a process did not keep when it died is unknown.
    return { ...providerCost(outcome, store === false ? undefined : price, input), salt }
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    logger.error({ err: error, runId: run.runId }, 'the cost of a run could not be determined')
    return { ...providerCost(outcome, undefined, {}), salt }
  }
}

/** The tokens of a text model: as its provider reports them, or else counted. Rejects like `readRunInput`. */
const runUsage = async (
  { routes, log }: RunCostsDependencies,
  run: BilledRun,
  { text = '', toolCalls, work }: Done,
  upstream: Upstream | undefined,
): Promise<TokenUsage | undefined> => {
  if (outputTypeOf(run.endpoint) !== 'text' || isTestEndpoint(run.endpoint)) return undefined
  const price = upstream && routes.priceListOf(run.endpoint, upstream)
  const reported = price && work?.units && reportedTokens(price, work.units)
  return reported ?? countTokens(await inputOf(log, run), text, toolCalls)
}

/** A run that ends. One that waits in the queue has not started. */
export type EndedRun = Pick<WatchTask, 'accountId' | 'runId' | 'mode' | 'endpoint' | 'timeoutMs'> &
  Partial<Pick<WatchTask, 'startedAt'>> &
  Pick<RunToDo, 'long' | 'store'>

/** Other processes take over runs that started WATCH_AFTER_MS ago, by their own clocks. */
const OWN_FOR_MS = WATCH_AFTER_MS - 3_000

/** Whether another process may take over a run, or may have done so. */
export const mayBeTakenOver = ({ startedAt }: Pick<WatchTask, 'startedAt'>, clock: Clock): boolean =>
  Math.abs(clock.nowMs() - Date.parse(startedAt)) >= OWN_FOR_MS

/**
 * When the files of a run that fails with this outcome of its provider are deleted; undefined if it can have stored
 * none. A run stored none if it never started, or if its provider reports a failure and no other process worked on it.
 * A process that dies or is slow may leave files of a result that another one never sees.
 */
export const leftFilesUntil = (run: EndedRun, outcome: ProviderOutcome, clock: Clock): string | undefined => {
  const { mode, timeoutMs, startedAt } = run
  if (startedAt === undefined) return undefined
  const isOwn = mode === 'sync' || !mayBeTakenOver({ startedAt }, clock)
  if (outcome.kind === 'failed' && outcome.code !== 'interrupted' && isOwn) return undefined
  return new Date(settledAtMs({ startedAt, timeoutMs })).toISOString()
}
