import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Observable } from 'rxjs'
import { runTask } from '../../projections/due.ts'
import type { AccountEvent, Artifact, RunError } from '../../schemas/account-events.ts'
import type { Recorded } from '../../schemas/recorded.ts'
import type { DueRow } from '../../schemas/views.ts'
import type { AccountCommand } from '../domain/account/commands.ts'
import type { Accounts } from '../engine/accounts.ts'
import { sha256 } from '../engine/canonical.ts'
import type { RunToDo, Starter } from '../engine/runs.ts'
import type { Clock } from '../ports/clock.ts'
import { Unavailable } from '../ports/faults.ts'
import type { Logger } from '../ports/logger.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Media, Outcome, Provider } from '../ports/provider.ts'
import type { RowChange, ViewStore } from '../ports/view-store.ts'
import { DueLoop } from './due-loop.ts'

/**
 * Runs that one process gives to one provider at a time: more than most vendors let one customer have at once. Those
 * beyond wait in the queue, on the log.
 */
const SLOTS_PER_PROVIDER = 64

/** A lease outlives a few missed renewals; a run of a dead process waits no longer than this to be found. */
const LEASE_MS = 15_000
const RENEW_MS = 3_000

/** How long a stop waits for work in progress before it gives the credits back instead. */
const STOP_GRACE_MS = 5_000

/** How long to wait before an outcome is offered again to a log that takes none. */
const RECORD_RETRY_MS = 500

interface Parts {
  providers: Record<string, Provider>
  accounts: Accounts
  views: ViewStore
  objects: ObjectStore
  clock: Clock
  logger: Logger
}

interface Working {
  sinceMs: number
  leased: boolean
  /** Aborted with the outcome that the run then has. */
  abort: AbortController
  done: Promise<unknown>
}

/** Hands runs to providers and records what comes of them. */
export class RunsReactor implements Starter {
  readonly #parts: Parts
  readonly #loop: DueLoop
  readonly #holder = randomUUID()
  readonly #working = new Map<string, Working>()
  readonly #taken = new Map<string, number>()
  #renewal: NodeJS.Timeout | undefined
  #stopping = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#loop = new DueLoop(parts.views, parts.clock, parts.logger, (key, row) => this.#handle(key, row))
  }

  start(changes: Observable<RowChange[]>) {
    this.#loop.start(changes)
    this.#renewal = setInterval(() => this.#renew(), RENEW_MS)
  }

  /** Lets work in progress end for a while; what is not done then fails as interrupted and is refunded. */
  async stop() {
    this.#stopping = true
    await this.#loop.stop()
    const all = Promise.all([...this.#working.values()].map(work => work.done))
    await Promise.race([all, delay(STOP_GRACE_MS, undefined, { ref: false })])
    for (const { abort } of this.#working.values()) abort.abort(stopped)
    await all
    clearInterval(this.#renewal)
  }

  reserve(provider: string): boolean {
    const taken = this.#taken.get(provider) ?? 0
    if (this.#stopping || taken >= SLOTS_PER_PROVIDER) return false
    this.#taken.set(provider, taken + 1)
    return true
  }

  unreserve(provider: string) {
    this.#free(provider)
    this.#loop.wake()
  }

  begin(run: RunToDo, leased = false): Promise<Recorded<AccountEvent>[]> {
    const key = runTask(run.runId)
    const abort = new AbortController()
    const deadline = setTimeout(() => abort.abort(late(run.timeoutMs)), run.timeoutMs)
    const done = this.#work(run, abort.signal)
      .catch(error => {
        this.#parts.logger.error({ err: error, runId: run.runId }, 'a run could not be brought to its end')
        return []
      })
      .finally(() => {
        clearTimeout(deadline)
        this.#working.delete(key)
        this.unreserve(run.provider)
        if (work.leased) this.#parts.views.release([key], this.#holder).catch(() => undefined)
      })
    const work: Working = { sinceMs: performance.now(), leased, abort, done }
    this.#working.set(key, work)
    return done
  }

  #free(provider: string) {
    this.#taken.set(provider, (this.#taken.get(provider) ?? 1) - 1)
  }

  async #handle(key: string, row: DueRow): Promise<void> {
    if (this.#working.has(key)) return
    if (row.task === 'watch-run') return this.#takeOver(key, row)
    if (!this.reserve(row.provider)) return
    let started = false
    try {
      started = (await this.#lease([key])).length > 0 && (await this.#start(row))
      if (started) this.begin(row, true)
    } finally {
      // Nobody is woken, or the loop would come straight back to this row.
      if (!started) this.#free(row.provider)
    }
  }

  async #start({ accountId, runId }: DueRow): Promise<boolean> {
    const outcome = await this.#parts.accounts.execute(accountId, { type: 'StartRun', runId }, cause)
    return !('refuse' in outcome)
  }

  /** A started run that nobody holds was lost with its process. Its provider may have been paid; the client was not served. */
  async #takeOver(key: string, { accountId, runId }: DueRow): Promise<void> {
    if ((await this.#lease([key])).length === 0) return
    const error: RunError = { code: 'interrupted', message: 'The service stopped while it worked on this run.' }
    const outcome = await this.#parts.accounts.execute(accountId, { type: 'FailRun', runId, error }, cause)
    // It is refused when the run has ended, and only the views do not show it yet.
    if (!('refuse' in outcome)) this.#parts.logger.warn({ runId }, 'a lost run was failed and refunded')
    await this.#parts.views.release([key], this.#holder)
  }

  async #work(run: RunToDo, stop: AbortSignal): Promise<Recorded<AccountEvent>[]> {
    const { accountId, runId } = run
    const outcome = await this.#askProvider(run, stop)
    return this.#record(accountId, await this.#toCommand(runId, outcome), stop)
  }

  async #toCommand(runId: RunToDo['runId'], outcome: Outcome): Promise<AccountCommand> {
    if (outcome.kind === 'failed') {
      const { code, message } = outcome
      return { type: 'FailRun', runId, error: { code, message: message.slice(0, 1000) } }
    }
    try {
      const artifacts = await Promise.all(outcome.media.map(media => this.#store(media)))
      const text = outcome.text === undefined ? {} : { text: outcome.text }
      return { type: 'CompleteRun', runId, output: { artifacts, ...text } }
    } catch (error) {
      this.#parts.logger.error({ err: error, runId }, 'a result could not be stored')
      return { type: 'FailRun', runId, error: { code: 'provider_error', message: 'The result could not be stored.' } }
    }
  }

  /** A provider's outcome; one that hangs, breaks or is no longer waited for has one too. */
  async #askProvider({ runId, endpoint, input, provider: name }: RunToDo, signal: AbortSignal): Promise<Outcome> {
    const provider = this.#parts.providers[name]
    if (!provider) return { kind: 'failed', code: 'model_not_found', message: `No provider runs ${endpoint} here.` }
    const aborted = new Promise<Outcome>(resolve => {
      signal.addEventListener('abort', () => resolve(signal.reason))
    })
    const ask = async () => provider.submit({ runId, endpoint, input }, signal)
    const answered = ask().catch((error): Outcome => {
      if (signal.aborted) return signal.reason
      this.#parts.logger.error({ err: error, runId, endpoint }, 'a provider broke')
      return { kind: 'failed', code: 'provider_error', message: 'The provider failed to answer.' }
    })
    return Promise.race([answered, aborted])
  }

  async #store({ mimeType, bytes }: Media): Promise<Artifact> {
    const objectKey = `outputs/${randomBytes(16).toString('hex')}.${endings[mimeType] ?? 'bin'}`
    await this.#parts.objects.put(objectKey, bytes)
    return { objectKey, mimeType, sizeBytes: bytes.byteLength, sha256: sha256(bytes) }
  }

  /** Records an outcome, however long the log takes no writes. A refusal means that another process ended the run. */
  async #record(
    accountId: RunToDo['accountId'],
    command: AccountCommand,
    stop: AbortSignal,
  ): Promise<Recorded<AccountEvent>[]> {
    while (true) {
      try {
        const outcome = await this.#parts.accounts.execute(accountId, command, cause)
        if (!('refuse' in outcome)) return outcome.accept
        this.#parts.logger.warn({ command: command.type, ...outcome.refuse }, 'an outcome came too late')
        return []
      } catch (error) {
        if (!(error instanceof Unavailable) || stop.aborted) throw error
        await delay(RECORD_RETRY_MS)
      }
    }
  }

  #lease(keys: string[]): Promise<string[]> {
    const nowMs = this.#parts.clock.nowMs()
    return this.#parts.views.lease(keys, this.#holder, nowMs, nowMs + LEASE_MS)
  }

  /** Tells the other processes that the longer runs are being worked on. The short ones are done before anybody asks. */
  #renew() {
    const nowMs = performance.now()
    const long = [...this.#working].filter(([, work]) => nowMs - work.sinceMs >= RENEW_MS / 2)
    if (long.length === 0) return
    for (const [, work] of long) work.leased = true
    this.#lease(long.map(([key]) => key)).catch(error =>
      this.#parts.logger.error({ err: error }, 'leases were not renewed'),
    )
  }
}

const cause = { actor: { kind: 'reactor' } } as const

const endings: Record<string, string> = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' }

const stopped: Outcome = {
  kind: 'failed',
  code: 'interrupted',
  message: 'The service was stopped before the run was done.',
}

const late = (timeoutMs: number): Outcome => ({
  kind: 'failed',
  code: 'provider_timeout',
  message: `There was no result within ${timeoutMs} ms.`,
})
