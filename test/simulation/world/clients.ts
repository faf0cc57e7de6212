import { hasEnded, runKey } from '../../../projections/runs.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import { InDoubt, Unavailable } from '../../../src/ports/faults.ts'
import { unwrap } from '../../support/unwrap.ts'
import { operator, ownerOf } from './callers.ts'
import { type Dependencies, OF_OTHER_KEYS, SUSPENDED } from './commands.ts'
import { ClientCredits } from './credits.ts'
import { ClientKeys, type Key } from './keys.ts'
import { ClientNotices } from './notices.ts'
import type { Running, SimulatedProcess } from './process.ts'
import { ClientPurchases } from './purchases.ts'
import { ClientRuns } from './runs.ts'
import { ClientSeals } from './seals.ts'
import { ClientUploads } from './uploads.ts'
import { Visitors } from './visitors.ts'
import { ClientWebhooks } from './webhooks.ts'
import type { World } from './world.ts'

/** How long a client waits for an answer before it goes on without one. */
const PATIENCE_MS = 40_000

/** The code of the error where a stream is destroyed. */
const CUT_OFF = 'ERR_STREAM_PREMATURE_CLOSE'

/** Commands of one client at a time. */
const AT_A_TIME = 2

/** A command without an answer so far. */
interface Pending {
  name: string
  process: SimulatedProcess
  life: number
}

/** A client with an account, which sends commands by chance to any process. */
export class SimulatedClient {
  readonly #world: World
  readonly #accountId: AccountId
  readonly #dependencies: Dependencies
  readonly #pending = new Set<Pending>()

  constructor(world: World, accountId: AccountId, firstKey: Key) {
    this.#world = world
    this.#accountId = accountId
    const keys = new ClientKeys(world, accountId, firstKey)
    const credits = new ClientCredits(world, accountId, keys)
    const uploads = new ClientUploads(world, accountId)
    const runs = new ClientRuns(world, accountId, { keys, credits, uploads })
    const seals = new ClientSeals(world, accountId, { keys, runs })
    const notices = new ClientNotices(world, accountId)
    const purchases = new ClientPurchases(world, accountId, keys)
    const webhooks = new ClientWebhooks(world, accountId, { keys, runs })
    const visitors = new Visitors(world)
    this.#dependencies = { keys, credits, uploads, runs, seals, notices, webhooks, visitors, purchases }
  }

  /** Sends commands, a few at a time, until the world asks it to stop. */
  async live(): Promise<void> {
    await Promise.all(Array.from({ length: AT_A_TIME }, () => this.#sendAll()))
  }

  /** Expects that every command was answered, unless its process ended. */
  expectNonePending() {
    for (const { name, process, life } of this.#pending)
      if (process.life === life) this.#world.violation(`${this.#accountId} ${name} was never answered`)
  }

  /** Disputes a payment, if there is one. */
  dispute() {
    return this.#dependencies.purchases.dispute()
  }

  /** Expects that a process tells how the account stands, now that nothing changes any more. */
  async expectAnswers({ running, name }: SimulatedProcess): Promise<void> {
    if (!running) return
    const { truth, violation } = this.#world
    const { accounts, runs, uploads } = running.services
    const caller = ownerOf(this.#accountId)
    try {
      const { balanceMicros, owedMicros } = unwrap(await accounts.balance(caller))
      if (owedMicros !== this.#owedMicros) violation(`${name} shows that ${this.#accountId} owes ${owedMicros}`)
      truth.expectBalance(this.#accountId, truth.lastBalance(this.#accountId), balanceMicros)
      unwrap(await uploads.list(caller, { limit: 1 }))
      for (const runId of this.#dependencies.runs.accepted) {
        const key = runKey(this.#accountId, runId)
        if (['runs', 'archivedRuns'].some(view => this.#world.isForged(view, key))) continue
        if (!hasEnded(unwrap(await runs.findRun(caller, runId)))) violation(`${name} shows that ${runId} has not ended`)
      }
    } catch (error) {
      violation(`${name} does not answer ${this.#accountId}: ${(error as Error).stack}`)
    }
  }

  /** Runs a model once more, for the owner of the account. */
  async runOnceMore({ services }: Running, model: string): Promise<RunId> {
    // What the account owes is paid first.
    const amountMicros = 10_000_000 + this.#owedMicros
    await services.accounts.resume(operator, this.#accountId, 'last run')
    await services.accounts.grant(operator, this.#accountId, { amountMicros, kind: 'courtesy', reason: 'last run' })
    const caller = ownerOf(this.#accountId)
    return unwrap(
      await services.runs.createRun(caller, { model, input: { prompt: 'last' } }, { spender: 'runModel', waitMs: 0 }),
    ).row.runId
  }

  /** Whether a process starts a sync run at once, instead of leaving it in the queue. */
  async startsNow(running: Running): Promise<boolean> {
    const runId = await this.runOnceMore(running, 'instant')
    const { openRuns } = await running.core.accounts.currentState(this.#accountId)
    return openRuns.get(runId)?.isStarted !== false
  }

  get #owedMicros(): number {
    return this.#world.truth.purchases.owedMicros(accountStream(this.#accountId))
  }

  async #sendAll() {
    const { chance, timeline } = this.#world
    while (!this.#world.isCalm) {
      await timeline.pass(chance.between(1, 400))
      const process = chance.pick(this.#world.processes)
      const { running } = process
      if (!running) continue
      await Promise.race([this.#send(process, running), timeline.pass(PATIENCE_MS)])
    }
  }

  async #send(process: SimulatedProcess, running: Running): Promise<void> {
    const [world, accountId] = [this.#world, this.#accountId]
    const { name, send, expected } = world.chance.pick(world.commands)
    const pending = { name, process, life: process.life }
    this.#pending.add(pending)
    try {
      const told = await send(this.#dependencies, running, process)
      world.trace(`${accountId} ${name}: ${told}`)
      world.count(`${name} ${told}`)
      const { areKnown, wasSuspended } = this.#dependencies.keys
      const isWrong = (OF_OTHER_KEYS.includes(told) && areKnown) || (told === SUSPENDED && !wasSuspended)
      if (expected?.includes(told) === false || isWrong) world.violation(`${accountId} ${name}: ${told}`)
    } catch (error) {
      world.trace(`${accountId} ${name}: ${error}`)
      // A service may be unable to answer, but not broken. A stop cuts off files that still arrive.
      const isUnavailable = !world.mustBeAvailable && (error instanceof Unavailable || error instanceof InDoubt)
      const isCutOff = process.running !== running && (error as { code?: string }).code === CUT_OFF
      if (!isUnavailable && !isCutOff) world.violation(`${name} failed with ${(error as Error).stack}`)
    } finally {
      this.#pending.delete(pending)
    }
  }
}
