import { firstValueFrom, type Observable } from 'rxjs'
import { fold } from '../../../projections/define.ts'
import { runs as runView } from '../../../projections/runs.ts'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { RunRequest, RunWarning } from '../../../schemas/api/run.ts'
import type { Receipt } from '../../../schemas/catalog.ts'
import {
  type AccountId,
  MAX_ARRIVING_BYTES,
  MAX_ARRIVING_BYTES_IN_ALL,
  type RunId,
} from '../../../schemas/primitives.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { RunRow } from '../../../schemas/views.ts'
import type { QueueRun } from '../../domain/account/commands.ts'
import type { LimitPair } from '../../domain/account/state.ts'
import { outputTypeOf } from '../../domain/catalog/family.ts'
import type { FileParameter } from '../../domain/catalog/inputs.ts'
import { pricedPart } from '../../domain/catalog/pricing.ts'
import { refuse } from '../../domain/refusal.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Random } from '../../ports/random.ts'
import { delay, withinTime } from '../../time/timers.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import { type AccountCaller, keyIdOf, modeOf } from '../caller.ts'
import type { Offers } from '../catalog/offers.ts'
import type { Retirements } from '../catalog/retirements.ts'
import type { Addresses } from '../files/addresses.ts'
import type { OutputKeys } from '../files/output-keys.ts'
import { newRunId } from '../ids.ts'
import { type ProviderRoute, upstreamOf } from '../providers/routes.ts'
import { timed } from '../request-record.ts'
import { withoutNulls } from '../schema-check.ts'
import type { Page, WaitingClient } from '../views/newest-first.ts'
import {
  type Attachment,
  type Attachments,
  attachedImages,
  NO_ATTACHMENTS,
  withAddresses,
  withTexts,
} from './attachments.ts'
import { type FollowedRun, followedRun, textsOf } from './followed-run.ts'
import { findRepeat, findRequest, type RepeatDependencies } from './idempotency.ts'
import {
  imagePlaces,
  imageUrls,
  type LongParameter,
  longParametersIn,
  placesFor,
  recordedInput,
  requestHash,
} from './long-parameters.ts'
import { type PricedRequest, type Quoted, type Quotes, sizeRefusal } from './quotes.ts'
import type { Remedies } from './remedies.ts'
import type { RunWithInput, ShownInputs } from './run-inputs.ts'
import { aborted, type RunReads, type RunsQuery } from './run-reads.ts'
import type { RunToDo, Starter } from './starter.ts'

/**
 * The routes, the page and the tool that spend credits, by their IDs. `test/http/spenders.test.ts` has a row for each
 * and holds it to every limit, so another one does not compile without a row.
 */
export type Spender =
  | 'runModel'
  | 'createChatCompletion'
  | 'createResponse'
  | 'generateImages'
  | 'editImages'
  | 'createSpeech'
  | 'playground'
  | 'run_model'

/** How long a caller waits for the end of a run. */
export interface RunWait {
  /** Undefined leaves it to the endpoint's mode. */
  waitMs?: number | undefined
  /** Returns a signal that ends only the wait, when the client has disconnected. */
  disconnected?: (() => AbortSignal) | undefined
}

export interface RunOptions extends RunWait {
  spender: Spender
  idempotencyKey?: string | undefined
  file?: ArrivedFile | undefined
  /** The large files of the request. */
  attachments?: Attachments | undefined
  /** Whether the text is wanted as it arrives. With `required`, models without text are refused. */
  streams?: 'required' | 'wanted' | undefined
}

/**
 * A file that has arrived with the request. It is stored only for a run that would be accepted, so a refused request
 * leaves no trace of it. In the request, an address stands for it that its content alone determines, because equal
 * requests may bring the same file anew.
 */
export interface ArrivedFile {
  parameter: FileParameter
  /** Stores the file as an upload of the account, under its own name if that is kept. Returns its address. */
  store(isNameKept: boolean): Promise<Answer<string>>
  /** Removes the file, stored or not. */
  drop(): Promise<void>
}

/** The current state of a run, with its input. `replayed` if an earlier, equal request created it. */
export interface RunResult extends RunWithInput {
  replayed: boolean
}

/** How long a request waits for a sync run if the client sets no limit. */
const SYNC_WAIT_MS = 60_000

/** The long parts of a request's input, and the work with them. */
interface RunWork {
  long: LongParameter[]
  images: Attachment[]
  /** Resolves to the events that ended the run, or to none. */
  done?: Promise<Recorded<AccountEvent>[]>
}

/** Longer than any run may take. */
const FOREVER_MS = 24 * 60 * 60 * 1000

/** When to ask again for a run with a long input: as soon as another run of the model has ended. */
const LONG_RETRY_MS = 1_000

/** How long a cancellation waits for the provider to stop. */
const CANCEL_WAIT_MS = 5_000

interface Dependencies extends RepeatDependencies {
  offers: Offers
  quotes: Quotes
  runReads: RunReads
  shownInputs: ShownInputs
  retirements: Pick<Retirements, 'warningsOf'>
  starter: Starter
  objects: Pick<ObjectStore, 'ensureRoom'>
  outputKeys: OutputKeys
  addresses: Pick<Addresses, 'urlOf'>
  random: Random
  /** The default limits for runs in flight. */
  runsInFlight: LimitPair
  /** The test runs that an account may have in a UTC day. */
  testRunsPerDay: number
  /** The key of the digests of requests of which nothing is kept. */
  requestKey: Buffer
  remedies: Pick<Remedies, 'of'>
}

/** A run whose text is wanted as it arrives. */
export interface StreamedRun extends RunResult {
  /** Emits the text so far, and then each further piece, while this process works on the run. */
  texts: Observable<string>
  /** Resolves to the run once it has ended, or to its state when the signal aborts. Rejects with Unavailable. */
  ended(signal: AbortSignal): Promise<RunRow>
}

/** Prices, runs, shows and cancels runs. */
export class Runs {
  readonly #dependencies: Dependencies
  /** The bytes of long inputs that are in memory. */
  readonly #longInputs = new OpenCounts<AccountId>(MAX_ARRIVING_BYTES, MAX_ARRIVING_BYTES_IN_ALL)

  readonly permissions = {
    quoteRun: 'read',
    createRun: 'write',
    streamRun: 'write',
    cancelRun: 'write',
    digestOf: 'write',
    findRequest: 'write',
    findRun: 'read',
    readInput: 'read',
    readWarnings: 'read',
    listRuns: 'read',
    listRunsWithInputs: 'read',
    followRun: 'read',
  } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The price of a run. Refuses every request that a run would, except for a lack of credits or a limit. */
  async quoteRun(caller: AccountCaller, given: RunRequest, attachments = NO_ATTACHMENTS): Promise<Answer<Quoted>> {
    const request = normal(given, attachments)
    const tooLarge = sizeRefusal(request, await longParametersIn(request.input))
    return tooLarge ?? this.#dependencies.quotes.quoteRun(caller, request, attachments)
  }

  /** Runs a model. Returns the state of the run when the wait ends. Rejects with Unavailable. */
  createRun(caller: AccountCaller, given: RunRequest, options: RunOptions): Promise<Answer<RunResult>> {
    return this.#beginRun(caller, given, options, { long: [], images: [] })
  }

  async #beginRun(
    caller: AccountCaller,
    given: RunRequest,
    options: RunOptions,
    work: RunWork,
  ): Promise<Answer<RunResult>> {
    const { attachments = NO_ATTACHMENTS } = options
    const request = normal(given, attachments)
    work.long = await longParametersIn(request.input)
    work.images = attachedImages(request.input, attachments)
    const tooLarge = sizeRefusal(request, work.long)
    if (tooLarge) return tooLarge
    const close = this.#openLong(caller, work)
    if (!close) return refuse('long_inputs_at_limit', { limitBytes: MAX_ARRIVING_BYTES })
    try {
      await this.#pause(work)
      return await this.#createRun(caller, request, options, work)
    } finally {
      // The work may go on without the client.
      void Promise.resolve(work.done).finally(close)
    }
  }

  /** Lets other work run between steps that take a tenth of a second for a long input. */
  async #pause({ long, images }: RunWork): Promise<void> {
    if (long.length + images.length > 0) await delay(this.#dependencies.clock, 0)
  }

  /** Counts the long inputs in memory until the returned function is called. Undefined if there are too many. */
  #openLong({ accountId }: AccountCaller, { long, images }: RunWork): (() => void) | undefined {
    const sizes = [...long, ...images.map(({ inspected }) => inspected)].map(each => each.sizeBytes)
    const sizeBytes = sizes.reduce((sum, size) => sum + size, 0)
    return sizeBytes === 0 ? () => undefined : this.#longInputs.open(accountId, sizeBytes)
  }

  async #createRun(
    caller: AccountCaller,
    request: RunRequest,
    options: RunOptions,
    work: RunWork,
  ): Promise<Answer<RunResult>> {
    const { idempotencyKey: key } = options
    const idempotency = key === undefined ? undefined : { key, requestHash: await this.#hashOf(caller, request) }
    await this.#pause(work)
    const repeated = idempotency && (await this.#findRepeat(caller, idempotency, options))
    if (repeated) return repeated

    // Another process may have accepted this request under the same key while it could still be priced and taken.
    const findAccepted = async () => idempotency && this.#findRepeat(caller, idempotency, options, 'log')
    let priced: Answer<PricedRequest>
    try {
      priced = await this.#dependencies.quotes.priceRun(caller, request, options.attachments, options.file?.parameter)
      if (!('refuse' in priced)) priced = this.#checkCapacity(priced.value)
    } catch (error) {
      const earlier = await findAccepted()
      if (earlier) return earlier
      throw error
    }
    if ('refuse' in priced) return (await findAccepted()) ?? priced
    await this.#pause(work)
    return this.#acceptRun(caller, priced.value, request, { ...options, idempotency, work })
  }

  /** A digest of a run that is not kept must not tell what was asked. */
  async #hashOf({ accountId }: AccountCaller, request: RunRequest): Promise<string> {
    const { accounts, requestKey } = this.#dependencies
    const isKept = request.store !== false && (await accounts.state(accountId)).retentionDays !== 0
    return requestHash(request, isKept ? undefined : requestKey)
  }

  /** A digest that tells whether two requests are equal, and nothing else. */
  async digestOf(_caller: AccountCaller, request: object): Promise<Answer<string>> {
    return answer(await requestHash(request, this.#dependencies.requestKey))
  }

  /** Runs a text model. Returns as soon as the run is accepted. Refuses models whose result is not text. */
  async streamRun(
    caller: AccountCaller,
    given: RunRequest,
    options: Omit<RunOptions, 'waitMs' | 'streams'>,
  ): Promise<Answer<StreamedRun>> {
    const { runReads, starter } = this.#dependencies
    const work: RunWork = { long: [], images: [] }
    const created = await this.#beginRun(caller, given, { ...options, waitMs: 0, streams: 'required' }, work)
    if ('refuse' in created) return created
    const { row } = created.value
    return answer({
      ...created.value,
      texts: textsOf(starter, row.runId),
      // The views show the end a little later.
      ended: async signal => (await ownEnd(row, work, signal)) ?? runReads.whenEnded(row, FOREVER_MS, signal),
    })
  }

  /** Reserves a route for a sync run, appends the run with its debit, and returns its state when the wait ends. */
  async #acceptRun(
    caller: AccountCaller,
    priced: PricedRequest,
    request: RunRequest,
    options: RunOptions & { idempotency: { key: string; requestHash: string } | undefined; work: RunWork },
  ): Promise<Answer<RunResult>> {
    const { accounts, quotes, starter, random, runsInFlight, testRunsPerDay, outputKeys, addresses } =
      this.#dependencies
    const { accountId } = caller
    const keyId = keyIdOf(caller)
    const mode = modeOf(caller)
    const { idempotency } = options
    const { endpoint, receipt, maxMicros, store } = priced
    const isKept = store !== false
    const { timeoutMs, retry } = endpoint
    const hasText = outputTypeOf(endpoint.id) === 'text'
    if (options.streams === 'required' && !hasText) return refuse('stream_not_offered', { endpoint: endpoint.id })
    const runId = newRunId(random)
    const images = isKept ? imagePlaces(outputKeys, runId, options.work.images) : []
    const placed = isKept
      ? new Map(images.map(({ artifact }) => [artifact.sha256, addresses.urlOf(artifact.objectKey)]))
      : imageUrls(options.work.images)
    const asPriced = {
      runId,
      model: receipt.model,
      endpoint: endpoint.id,
      mode: endpoint.mode,
      timeoutMs,
      ...(retry && { retry }),
      input: withAddresses(quotes.withSeed(priced, runId), placed),
      ...(images.length > 0 && { inputFiles: images.map(({ artifact }) => artifact) }),
      ...(request.metadata && { metadata: request.metadata }),
      ...(request.webhook_url !== undefined && { webhookUrl: request.webhook_url }),
      ...(idempotency && { idempotency }),
      ...(!isKept && { store }),
    }
    const asked = {
      runsInFlight,
      testRunsPerDay,
      ...(keyId && { keyId }),
      ...(request.label !== undefined && { label: request.label }),
      ...(request.budget !== undefined && { budget: request.budget }),
      ...(maxMicros !== undefined && { maxMicros }),
    }
    const asQueued = { type: 'QueueRun', ...asked, run: asPriced, receipt } as const
    const foreseen = options.file ? await this.#storeFile(caller, asQueued, options.file) : answer({})
    if ('refuse' in foreseen || 'repeatOf' in foreseen) return this.#notAccepted(caller, foreseen, options)
    const input = { ...asPriced.input, ...foreseen.value }
    const run = { ...asPriced, input }
    const place = { endpoint: endpoint.id, input, accountId, ...mode }
    const route = endpoint.mode === 'sync' ? starter.reserveRoute(place) : undefined
    const isLong = options.work.long.length + options.work.images.length > 0
    const longParameters = images.length > 0 ? await longParametersIn(input) : options.work.long
    const long = placesFor(outputKeys, runId, isKept ? longParameters : [])
    Object.assign(options.work, { long: [], images: [] })
    const parts = [...long, ...images]
    // Such an input is in memory only, so its run cannot wait in the queue.
    if ((isLong || !isKept) && !route)
      return refuse('model_waits', { endpoint: endpoint.id, retryAfterMs: LONG_RETRY_MS })
    const recorded = isKept ? { ...run, input: recordedInput(input, long) } : withoutContent(run, receipt)
    const command = { type: 'QueueRun', ...asked, run: recorded, receipt, startAt: route && upstreamOf(route) } as const
    const outcome = await accounts.execute(caller, accountId, command).catch(error => {
      if (route) starter.releaseRoute(route, accountId)
      throw error
    })
    if ('refuse' in outcome || outcome.repeatOf !== undefined) {
      if (route) starter.releaseRoute(route, accountId)
      return this.#notAccepted(caller, outcome, options)
    }
    const { metadata } = run
    const row = { ...(fold(runView, outcome.accept) as RunRow), ...(metadata && { metadata }) }
    const streams = options.streams !== undefined && hasText
    const facts = { ...mode, accountId, startedAt: row.startedAt as string }
    const toDo = { ...run, ...facts, ...(streams && { streams }), ...(parts.length > 0 && { long: parts }) }
    // Nobody can ask for the result of a run that is not kept, so its client waits for the end.
    const wait = isKept || options.streams === 'required' ? options : { ...options, waitMs: FOREVER_MS }
    const worked = route ? this.#whenWorkedOn(row, toDo, route, wait) : this.#shown(row, wait)
    const shownInput = isKept ? recorded.input : input
    return accepted(await this.#waited(caller, row, worked), !isKept && isLong ? undefined : shownInput)
  }

  /** Stores the file of a run that would be accepted now. Returns its address as a part of the input. */
  async #storeFile(caller: AccountCaller, command: QueueRun, file: ArrivedFile): Promise<Stored> {
    const foreseen = await this.#dependencies.accounts.foresee(caller, caller.accountId, command)
    if ('refuse' in foreseen) return foreseen
    if (foreseen.repeatOf !== undefined) return { repeatOf: foreseen.repeatOf }
    const stored = await file.store(command.run.store !== false)
    return 'refuse' in stored ? stored : answer({ [file.parameter]: stored.value })
  }

  async #notAccepted(
    caller: AccountCaller,
    outcome: Refused | { repeatOf?: string },
    options: RunOptions,
  ): Promise<Answer<RunResult>> {
    await options.file?.drop()
    if ('refuse' in outcome) return this.#dependencies.remedies.of(outcome, caller.accountId)
    return this.#replay(caller, outcome.repeatOf as RunId, options)
  }

  /** Begins the work of a started run. Returns its state when the wait ends. */
  async #whenWorkedOn(
    row: RunRow,
    run: RunToDo,
    route: ProviderRoute,
    options: RunWait & { work: RunWork },
  ): Promise<RunRow> {
    const { starter, clock } = this.#dependencies
    const waitMs = options.waitMs ?? defaultWaitMs(row)
    const untilMs = clock.monotonicMs() + waitMs
    const done = starter.beginRun(run, route)
    options.work.done = done.catch(() => [])
    const inTime = withinTime(clock, done, waitMs, () => undefined).catch(() => undefined)
    // A client that does not wait gets the same answer from fast and slow models.
    if (waitMs <= 0) return row
    const events = await inTime
    // Without events the run ended in an append whose response was lost, or in another process. Only the views show
    // how.
    if (events?.length !== 0) return fold(runView, events ?? [], row) as RunRow
    return this.#shown(row, { ...options, waitMs: untilMs - clock.monotonicMs() })
  }

  /** Refuses a run that no provider would take now. Throws Unavailable if its result could not be kept. */
  #checkCapacity(priced: PricedRequest): Answer<PricedRequest> {
    const { starter, objects } = this.#dependencies
    const { endpoint, input, livemode } = priced
    const run = { endpoint: endpoint.id, input, ...(livemode === false && { livemode }) }
    // The client waits for a sync run, and may as well ask again later. An async run waits in the queue.
    const retryAfterMs = endpoint.mode === 'sync' ? starter.waitMs(run) : undefined
    if (retryAfterMs !== undefined) return refuse('model_waits', { endpoint: endpoint.id, retryAfterMs })
    // The provider would still charge for a result that cannot be kept.
    if (endpoint.kind !== 't2t') objects.ensureRoom()
    return answer(priced)
  }

  /** Cancels one of the caller's runs. Returns the run once it has ended, or its state when the wait ends. */
  async cancelRun(
    caller: AccountCaller,
    id: string,
    { waitMs = CANCEL_WAIT_MS, disconnected }: RunWait,
  ): Promise<Answer<RunRow>> {
    const { accounts, runReads } = this.#dependencies
    const { accountId } = caller
    const found = await runReads.findRun(caller, id)
    if ('refuse' in found) return found
    const { value: row } = found
    const command = { type: 'CancelRun', keyId: keyIdOf(caller), runId: row.runId } as const
    const outcome = await accounts.execute(caller, accountId, command)
    if ('refuse' in outcome) return outcome
    const ended = this.#whenEnded(fold(runView, outcome.accept, row) as RunRow, { waitMs, disconnected })
    return answer(await this.#waited(caller, row, ended))
  }

  /** The idempotency key of a request that a client may be repeating: see `findRequest`. Rejects with Unavailable. */
  async findRequest(
    caller: AccountCaller,
    ...request: [prefix: string, keptMs: number, except: ReadonlySet<string>]
  ): Promise<Answer<string | undefined>> {
    return answer(await findRequest(this.#dependencies, caller, ...request))
  }

  /** One of the caller's runs, by either form of its id. */
  findRun(caller: AccountCaller, id: string): Promise<Answer<RunRow>> {
    return this.#dependencies.runReads.findRun(caller, id)
  }

  /** The input of a run that the caller has found; undefined while the log is unavailable. */
  async readInput(caller: AccountCaller, row: RunRow): Promise<Answer<Record<string, unknown> | undefined>> {
    return answer(await this.#dependencies.shownInputs.of(caller, row))
  }

  /** The warnings on a run; undefined if there are none, or while the log is unavailable. */
  async readWarnings(caller: AccountCaller, { endpoint, model }: RunRow): Promise<Answer<RunWarning[] | undefined>> {
    const { retirements, offers } = this.#dependencies
    try {
      return answer(await retirements.warningsOf(endpoint, model, () => offers.isTester(caller)))
    } catch (error) {
      // The run is accepted and charged, so the client must learn its ID.
      if (error instanceof Unavailable) return answer(undefined)
      throw error
    }
  }

  /** A page of the caller's runs, newest first. Rejects with Unavailable. */
  async listRuns(
    caller: AccountCaller,
    query: RunsQuery,
    client?: WaitingClient,
  ): Promise<Answer<Page<RunRow, RunId>>> {
    const { runReads, offers } = this.#dependencies
    const { model } = query
    // Runs record the ids of that time, which may be those of a family that was withdrawn since.
    const alias = model && (await offers.listFor(caller)).find(({ family }) => family.aliases.includes(model))
    return answer(await runReads.listRuns(caller, alias ? { ...query, model: alias.family.id } : query, client))
  }

  /** The same with inputs. The page is shorter if these are large. */
  async listRunsWithInputs(
    caller: AccountCaller,
    query: RunsQuery,
    client?: WaitingClient,
  ): Promise<Answer<Page<RunWithInput, RunId>>> {
    const listed = await this.listRuns(caller, query, client)
    return 'refuse' in listed
      ? listed
      : answer(await this.#dependencies.shownInputs.ofPage(caller, listed.value, client))
  }

  /** Follows one of the caller's runs. */
  async followRun(caller: AccountCaller, id: string): Promise<Answer<FollowedRun>> {
    const found = await this.#dependencies.runReads.findRun(caller, id)
    return 'refuse' in found ? found : answer(followedRun(this.#dependencies, caller, found.value))
  }

  /**
   * The result of an earlier request under the same key; undefined if there is none. `'log'` also finds what other
   * processes have accepted.
   */
  async #findRepeat(
    caller: AccountCaller,
    idempotency: { key: string; requestHash: string },
    options: RunOptions,
    source?: 'memory' | 'log',
  ): Promise<Answer<RunResult> | undefined> {
    const repeated = await findRepeat(this.#dependencies, caller, idempotency, source)
    if (!repeated || 'refuse' in repeated) return repeated
    await options.file?.drop()
    return this.#replay(caller, repeated.repeatOf as RunId, options)
  }

  async #replay(caller: AccountCaller, runId: RunId, options: RunWait): Promise<Answer<RunResult>> {
    const { runReads, shownInputs } = this.#dependencies
    const row = await runReads.readRun(caller.accountId, runId)
    const input = await shownInputs.of(caller, row)
    return answer({ row: await this.#waited(caller, row, this.#whenEnded(row, options)), input, replayed: true })
  }

  /** Notes the run, and the time of the wait for it, for the log line of the request. */
  async #waited({ record }: AccountCaller, begun: RunRow, wait: Promise<RunRow>): Promise<RunRow> {
    if (!record) return wait
    record.run = begun
    record.run = await timed(record, 'runMs', this.#dependencies.clock, wait)
    return record.run
  }

  /** The run is accepted and charged even if the views are unavailable, so the client must learn its id. */
  #shown(row: RunRow, options: RunWait): Promise<RunRow> {
    return this.#whenEnded(row, options).catch(error => {
      if (error instanceof Unavailable) return row
      throw error
    })
  }

  #whenEnded(row: RunRow, { waitMs = defaultWaitMs(row), disconnected }: RunWait): Promise<RunRow> {
    return this.#dependencies.runReads.whenEnded(row, waitMs, disconnected?.())
  }
}

/** The run once this process has ended it. Undefined if the signal aborts, or if another process may end the run. */
const ownEnd = async (row: RunRow, { done }: RunWork, signal: AbortSignal): Promise<RunRow | undefined> => {
  const events = await Promise.race([done, firstValueFrom(aborted(signal)).then(() => [])])
  return events?.length ? (fold(runView, events, row) as RunRow) : undefined
}

/**
 * Parameters may be null, and are then left out. Requests that differ only in that, or in the form of the answer, are
 * the same.
 */
const normal = ({ stream: _, ...request }: RunRequest, attachments: Attachments): RunRequest =>
  withTexts({ ...request, input: withoutNulls(request.input) }, attachments)

/** The part of an input, or what the account decides otherwise. */
type Stored = Answer<Record<string, string>> | { repeatOf: string }

/** What is recorded of a run of which nothing is kept. Its receipt tells that part of the input anyway. */
const withoutContent = <Run extends { input: Record<string, unknown>; metadata?: object }>(
  { metadata: _, ...run }: Run,
  receipt: Receipt,
) => ({ ...run, input: pricedPart(receipt, run.input) })

const accepted = (row: RunRow, input: Record<string, unknown> | undefined) => answer({ row, input, replayed: false })

/** Sync runs finish while the client waits; async runs are polled. */
const defaultWaitMs = ({ mode }: RunRow) => (mode === 'sync' ? SYNC_WAIT_MS : 0)
