import { createHash } from 'node:crypto'
import type { Endpoint } from '../../../schemas/catalog.ts'
import type { KeyId } from '../../../schemas/primitives.ts'
import type { Config } from '../../../src/boot/config.ts'
import { DEFAULT_NOTICES } from '../../../src/domain/account/notices.ts'
import { publishShipped } from '../../../src/services/catalog/published-catalog.ts'
import { endpoint, family, parameters, priceRule } from '../../support/catalog-samples.ts'
import { unwrap } from '../../support/unwrap.ts'
import { openSession, operator } from './callers.ts'
import { expectCalm } from './calm.ts'
import { Chance } from './chance.ts'
import { SimulatedClient } from './clients.ts'
import { COMMANDS, type Command } from './commands.ts'
import { decrypted } from './decrypted.ts'
import { SimulatedLog } from './event-log.ts'
import { drawFaults, type Faults, mayInterrupt, mustBeAvailable, noFaults, without } from './faults.ts'
import { FileTruth } from './file-truth.ts'
import { Nemesis } from './nemesis.ts'
import { SimulatedBucket } from './object-store.ts'
import { PaidJobs } from './paid-jobs.ts'
import { SimulatedPayments } from './payments.ts'
import { MASTER_SECRET, type Running, SimulatedProcess } from './process.ts'
import { SimulatedProvider } from './provider.ts'
import { priceList } from './purchases.ts'
import { SimulatedReceiver } from './receiver.ts'
import { TextTruth } from './text-truth.ts'
import { Timeline } from './timeline.ts'
import { Truth } from './truth.ts'
import { SimulatedViews } from './view-store.ts'

export interface WorldOptions {
  seed: number
  processes?: number
  clients?: number
  /** How long the clients are busy and the faults go on, in simulated time. */
  busyMs?: number
  /** Kinds of faults to leave out of those that the seed draws. */
  without?: (keyof Faults)[]
  /** The only commands that clients send; all by default. */
  commands?: string[]
  /** After so many steps of the busy time, a process crashes: one by an even number, another one by an odd number. */
  crashAt?: number
  /** Keeps the whole trace instead of its hash only. */
  keepsTrace?: boolean
}

export interface Report {
  seed: number
  violations: string[]
  /** How often each command, outcome, event and fault occurred. */
  counts: Map<string, number>
  simulatedMs: number
  steps: number
  /** The steps while the clients were busy. */
  busySteps: number
  events: number
  /** SHA-256 of the trace. */
  traceHash: string
  trace: string[]
}

const DEFAULTS = {
  ...{ processes: 3, clients: 4, busyMs: 20_000, keepsTrace: false },
  ...{ without: [], commands: [], crashAt: Number.POSITIVE_INFINITY },
}

/** The credits of new accounts, some too few for what their clients do. */
const WELCOMES = [30_000_000, 60_000_000, 200_000_000]

/** Files expire early in some worlds: soon after a grant for an upload ends. */
const EARLY_MS = 8 * 60_000

const DAY_MS = 24 * 3_600_000

/** More violations in one world tell nothing new. */
const MAX_VIOLATIONS = 20

/** An endpoint that takes an image. */
const retouching = { parametersSchema: parameters({ image_url: { type: 'string' } }) }

/** A text model whose longest answer costs a credit. */
const talking: Partial<Endpoint> = {
  parametersSchema: parameters({ max_output_tokens: { type: 'integer', minimum: 1, maximum: 1000, default: 1000 } }),
  pricing: priceRule({
    baseMicros: 0,
    tokens: { input: 300_000_001, cached_input: 0, output: 1_000_000_000, thinking: 1_000_000_000 },
  }),
}

const families = [
  family('instant', {}, [endpoint('t2i', { timeoutMs: 10_000 })]),
  family('patient', {}, [endpoint('t2i', { mode: 'async', timeoutMs: 30_000 })]),
  family('retouch', {}, [endpoint('i2i', { ...retouching, timeoutMs: 10_000 })]),
  family('chat', { outputType: 'text' }, [endpoint('t2t', { ...talking, timeoutMs: 10_000 })]),
  family('fancy', {}, [endpoint('t2i', { mode: 'async', timeoutMs: 30_000, pricing: priceRule({ baseMicros: 3 }) })]),
]

/** Whole services in one process, on simulated stores and time. One seed decides everything. */
export class World {
  readonly chance: Chance
  readonly timeline: Timeline
  readonly log = new SimulatedLog()
  readonly views = new SimulatedViews()
  readonly bucket = new SimulatedBucket(() => this.epochMs + this.timeline.nowMs)
  readonly truth: Truth
  readonly files: FileTruth
  readonly texts: TextTruth
  /** The links of the seals that clients keep, by number. */
  readonly keptSeals = new Map<number, string>()
  readonly provider: SimulatedProvider
  /** A provider that does a job as often as it is submitted, and bills it. */
  readonly vendor: SimulatedProvider
  readonly paidJobs: PaidJobs
  readonly receiver: SimulatedReceiver
  readonly payments: SimulatedPayments
  /** The codes that were sent to each address, the oldest first. */
  readonly mail = new Map<string, string[]>()
  readonly processes: SimulatedProcess[]
  readonly publicUrl = 'https://tollgate.example'
  /** When the world began, for its clocks. */
  epochMs = Date.parse('2026-01-01T00:00:00.000Z')
  /** How long files are kept: in some worlds, they expire while other things go wrong. */
  readonly retention: Config['retention']
  /** How long leases last. Where runs may be interrupted anyway, some expire before they are renewed. */
  leaseMs = 15_000
  /** The probabilities of faults now, and those that were drawn for this world. */
  faults: Faults = noFaults
  drawn: Faults = noFaults
  /** Whether a process crashes at a certain step. */
  isCrashing = false
  readonly nemesis: Nemesis
  /** The commands that clients choose from. */
  readonly commands: Command[]
  readonly counts = new Map<string, number>()
  /** Whether the clients stop, and nothing goes wrong any more. */
  isCalm = false
  readonly #options: Required<WorldOptions>
  readonly #hash = createHash('sha256')
  readonly #trace: string[] = []
  readonly #violations: string[] = []
  #steps = 0
  /** The steps at which the busy time began and ended. */
  #busyFrom = Number.POSITIVE_INFINITY
  #busyUntil = Number.POSITIVE_INFINITY

  constructor(options: WorldOptions) {
    this.#options = { ...DEFAULTS, ...options }
    const { seed, processes, commands } = this.#options
    this.commands = COMMANDS.filter(({ name }) => commands.length === 0 || commands.includes(name))
    this.chance = new Chance(seed)
    this.timeline = new Timeline(this.chance.fork())
    this.retention = this.chance.pick([
      { uploadsMs: 7 * DAY_MS, outputsMs: 30 * DAY_MS, runsMs: undefined },
      { uploadsMs: EARLY_MS, outputsMs: EARLY_MS, runsMs: EARLY_MS },
    ])
    this.paidJobs = new PaidJobs(this.violation)
    this.truth = new Truth(this.violation, runId => this.paidJobs.mayBeAccepted(runId))
    this.files = new FileTruth(this.bucket, this.violation)
    this.texts = new TextTruth(this.violation, what => this.count(what))
    this.log.onAppend = (stream, stored, first) => {
      const events = decrypted(stream, stored, this.bucket, MASTER_SECRET)
      for (const { type } of events) this.count(type)
      this.truth.follow(stream, events, first)
      this.files.follow(stream, events, first)
      for (const event of events) this.texts.follow(event)
    }
    this.provider = new SimulatedProvider(this)
    this.vendor = new SimulatedProvider(this, { isFaulty: true })
    this.payments = new SimulatedPayments(this)
    this.receiver = new SimulatedReceiver(this)
    this.nemesis = new Nemesis(this)
    this.processes = Array.from(
      { length: processes },
      (_, index) => new SimulatedProcess(this, `process-${index + 1}`, index === 0),
    )
  }

  /** Lives through the world's time. Resolves to what went wrong. */
  async live(): Promise<Report> {
    const { seed, crashAt } = this.#options
    let end: unknown
    this.#history().then(
      () => {
        end = 'over'
      },
      error => {
        end = error ?? 'failed'
      },
    )
    while (end === undefined && (await this.timeline.step())) {
      this.#steps += 1
      if (this.#steps === this.#busyFrom + crashAt)
        this.nemesis.crash(this.processes[crashAt % this.processes.length] as SimulatedProcess)
    }
    if (end !== 'over') this.violation(`the world ended early: ${(end as Error)?.stack ?? 'nothing was left to do'}`)
    for (const process of this.processes) process.crash()
    return {
      seed,
      violations: this.#violations,
      counts: this.counts,
      simulatedMs: Math.round(this.timeline.nowMs),
      steps: this.#steps,
      busySteps: this.#busyUntil - this.#busyFrom,
      events: (await this.log.head()) + 1,
      traceHash: this.#hash.digest('hex'),
      trace: this.#trace,
    }
  }

  trace(line: string) {
    const dated = `${this.timeline.nowMs.toFixed(3)} ${line}`
    this.#hash.update(dated)
    if (this.#options.keepsTrace) this.#trace.push(dated)
  }

  /** Reports that the service broke a promise. */
  readonly violation = (what: string) => {
    this.trace(`VIOLATION ${what}`)
    if (this.#violations.length < MAX_VIOLATIONS)
      this.#violations.push(`${Math.round(this.timeline.nowMs)} ms: ${what}`)
  }

  count(what: string) {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /** The address of an object, as clients see it. */
  addressOf(objectKey: string): string {
    return `${this.publicUrl}/cdn/${objectKey}`
  }

  /** Reads the image of a run, as a provider does. False if it is gone. */
  readImage(address: string): boolean {
    const key = address.slice(this.addressOf('').length)
    const found = this.bucket.objects.get(key)
    if (found) this.files.expectImage(key, found.bytes)
    return found !== undefined
  }

  /** Whether a row was forged, which is then absent until the views are rebuilt. */
  isForged(view: string, key: string): boolean {
    return this.nemesis.forged.has(`rows/${view}/${key}`)
  }

  /** Whether nothing excuses that the service is unavailable. */
  get mustBeAvailable(): boolean {
    return !this.isCrashing && mustBeAvailable(this.drawn)
  }

  get firstRunning(): Running {
    return this.processes[0]?.running ?? expectedToRun()
  }

  async #history() {
    const { busyMs, without: kinds, crashAt } = this.#options
    this.drawn = { ...drawFaults(this.chance.fork()), ...without(kinds) }
    this.isCrashing = Number.isFinite(crashAt)
    if (mayInterrupt(this.drawn)) this.leaseMs = this.chance.pick([15_000, 3_000])
    const clients = await this.#begin()
    this.faults = this.drawn
    this.truth.mayInterrupt = mayInterrupt(this.drawn) || this.isCrashing
    this.files.mayJump = this.drawn.clockJump > 0
    this.files.mayStray = this.files.mayJump
    this.files.mayDawdle = this.drawn.suspension > 0
    this.trace(JSON.stringify(this.drawn))
    this.#busyFrom = this.#steps
    const lives = [...clients.map(client => client.live()), this.nemesis.act()]
    await this.timeline.pass(busyMs)
    this.#busyUntil = this.#steps
    this.isCalm = true
    this.faults = noFaults
    this.trace('calm')
    await Promise.all(lives)
    this.files.mayStray = false
    for (const process of this.processes) void process.start()
    await expectCalm(this, clients)
  }

  /** Starts the processes, publishes the models, and opens the accounts. */
  async #begin(): Promise<SimulatedClient[]> {
    await Promise.all(this.processes.map(process => process.start()))
    const { core, services } = this.firstRunning
    await publishShipped(core.log, core.publishedCatalog, families)
    unwrap(await services.priceList.publish(operator, priceList))
    const clients: SimulatedClient[] = []
    for (let number = 1; number <= this.#options.clients; number++) {
      const key = { name: 'first' }
      const opening = {
        email: `client-${number}@example.com`,
        tester: false,
        welcomeMicros: this.chance.pick(WELCOMES),
        notices: DEFAULT_NOTICES,
        key,
      }
      const { accountId, apiKey = '' } = unwrap(await services.accounts.open({ kind: 'service' }, opening))
      await core.accounts.execute({ kind: 'service' }, accountId, openSession)
      const [keyId] = (await core.accounts.state(accountId)).activeKeys.keys()
      clients.push(new SimulatedClient(this, accountId, { keyId: keyId as KeyId, apiKey }))
    }
    await this.timeline.pass(1_000)
    return clients
  }
}

const expectedToRun = (): never => {
  throw new Error('the first process does not run')
}
