import { createHash } from 'node:crypto'
import type { Config } from '../../../src/boot/config.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { publishShipped } from '../../../src/services/catalog/publish-shipped.ts'
import { endpoint, family, parameters, priceRule } from '../../support/catalog-samples.ts'
import { unwrap } from '../../support/unwrap.ts'
import { Chance } from './chance.ts'
import { SimulatedClient } from './clients.ts'
import { SimulatedLog } from './event-log.ts'
import { drawFaults, type Faults, mayInterrupt, noFaults, without } from './faults.ts'
import { FileTruth } from './file-truth.ts'
import { SimulatedBucket } from './object-store.ts'
import { SimulatedProcess, SLOTS } from './process.ts'
import { SimulatedProvider } from './provider.ts'
import { SimulatedReceiver } from './receiver.ts'
import { Timeline } from './timeline.ts'
import { Truth } from './truth.ts'
import { type Content, SimulatedViews } from './view-store.ts'

export interface WorldOptions {
  seed: number
  processes?: number
  clients?: number
  /** How long the clients are busy and the faults go on, in simulated time. */
  busyMs?: number
  /** Kinds of faults to leave out of those that the seed draws. */
  without?: (keyof Faults)[]
  /** Keeps the whole trace instead of its hash only. */
  keepsTrace?: boolean
}

export interface Report {
  seed: number
  faults: string[]
  simulatedMs: number
  steps: number
  events: number
  /** SHA-256 of the trace. */
  traceHash: string
  trace: string[]
}

/** The credits of new accounts, some too few for what their clients do. */
const WELCOMES = [30_000_000, 60_000_000, 200_000_000]

/** How often the world looks whether to do some harm. */
const HARM_EVERY_MS = 100

/** Longer than a grant for an upload, and all that may follow it. */
const SUSPENSION_MS = 8 * 60_000

/** How long everything may take to end once the faults stop: longer than any retry that a world can cause. */
const CALM_MS = 3 * 3_600_000

const DAY_MS = 24 * 3_600_000

/** Longer than a grant lasts, by any clock, and shorter than most files are kept. */
const AFTER_GRANTS_MS = DAY_MS

/** Longer than any file is kept. */
const AFTER_RETENTION_MS = 40 * DAY_MS

/** How long a process may wait for a provider, and then for the store. */
const LONGEST_CALL_MS = 60_000

/** How long a rebuild after a forgery may take: it waits up to 30 s for the next one. */
const REBUILD_MS = 90_000

/** How many looks at the world ago a store may have synced its last commit. */
const MAX_UNSYNCED = 5

/** More faults in one world tell nothing new. */
const MAX_FAULTS = 20

/** An endpoint that takes an image. */
const retouching = { parametersSchema: parameters({ image_url: { type: 'string' } }), provider: 'instant' }

const families = [
  family('instant', {}, [endpoint('t2i', { provider: 'instant', timeoutMs: 10_000 })]),
  family('patient', {}, [endpoint('t2i', { provider: 'patient', mode: 'async', timeoutMs: 30_000 })]),
  family('retouch', {}, [endpoint('i2i', { ...retouching, timeoutMs: 10_000 })]),
  family('fancy', {}, [
    endpoint('t2i', { provider: 'patient', mode: 'async', timeoutMs: 30_000, pricing: priceRule({ baseMicros: 3 }) }),
  ]),
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
  readonly provider: SimulatedProvider
  readonly receiver: SimulatedReceiver
  readonly processes: SimulatedProcess[]
  readonly publicUrl = 'https://tollgate.example'
  /** When the world began, for its clocks. */
  epochMs = Date.parse('2026-01-01T00:00:00.000Z')
  /** How long files are kept: in some worlds, they expire while other things go wrong. */
  readonly retention: Config['retention']
  faults: Faults = noFaults
  /** Whether the clients stop, and nothing goes wrong any more. */
  isCalm = false
  readonly #options: Required<WorldOptions>
  readonly #hash = createHash('sha256')
  readonly #trace: string[] = []
  readonly #faults: string[] = []
  readonly #cuts = new Set<string>()
  /** Cells that the world has forged. Nobody notices while nobody reads them. */
  readonly #forged = new Map<string, string>()
  #kept: Content | undefined
  /** What the views held at the last looks at the world. */
  #unsynced: Content[]
  #steps = 0

  constructor(options: WorldOptions) {
    this.#options = { processes: 3, clients: 4, busyMs: 20_000, keepsTrace: false, without: [], ...options }
    const { seed, processes } = this.#options
    this.chance = new Chance(seed)
    this.timeline = new Timeline(this.chance.fork())
    this.retention = this.chance.pick([
      { uploadsMs: 7 * DAY_MS, outputsMs: 30 * DAY_MS },
      { uploadsMs: SUSPENSION_MS, outputsMs: SUSPENSION_MS },
    ])
    this.truth = new Truth(fault => this.fault(fault))
    this.files = new FileTruth(this.bucket, fault => this.fault(fault))
    this.log.onAppend = (stream, events, first) => {
      this.truth.follow(stream, events, first)
      this.files.follow(stream, events, first)
    }
    this.provider = new SimulatedProvider(this)
    this.receiver = new SimulatedReceiver(this)
    this.#unsynced = [this.views.content]
    this.processes = Array.from(
      { length: processes },
      (_, index) => new SimulatedProcess(this, `process-${index + 1}`, index === 0),
    )
  }

  /** Lives through the world's time. Resolves to what went wrong. */
  async live(): Promise<Report> {
    const { seed } = this.#options
    let end: unknown
    this.#history().then(
      () => {
        end = 'over'
      },
      error => {
        end = error ?? 'failed'
      },
    )
    while (end === undefined && (await this.timeline.step())) this.#steps += 1
    if (end !== 'over') this.fault(`the world ended early: ${(end as Error)?.stack ?? 'nothing was left to do'}`)
    for (const process of this.processes) process.crash()
    return {
      seed,
      faults: this.#faults,
      simulatedMs: Math.round(this.timeline.nowMs),
      steps: this.#steps,
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

  fault(fault: string) {
    this.trace(`FAULT ${fault}`)
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(`${Math.round(this.timeline.nowMs)} ms: ${fault}`)
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
    return this.#forged.has(`rows/${view}/${key}`)
  }

  /** Whether a way is cut in a direction. */
  isCut(name: string, direction: 'there' | 'back'): boolean {
    return this.#cuts.has(`${name} ${direction}`)
  }

  async #history() {
    const { busyMs, without: kinds } = this.#options
    const faults = { ...drawFaults(this.chance.fork()), ...without(kinds) }
    const clients = await this.#begin()
    this.faults = faults
    this.truth.mayInterrupt = mayInterrupt(faults)
    this.files.mayJump = faults.clockJump > 0
    this.files.mayDawdle = faults.suspension > 0
    this.trace(JSON.stringify(faults))
    const lives = clients.map(client => client.live())
    const harm = this.#harm()
    await this.timeline.pass(busyMs)
    this.isCalm = true
    this.faults = noFaults
    this.#cuts.clear()
    this.trace('calm')
    await Promise.all([...lives, harm])
    for (const process of this.processes) if (!process.isUp) void process.start()
    await this.#untilAllEnded()
    await this.#expectFreeSlots(clients)
    await this.#outliveFiles()
    await this.#compareViews()
  }

  /** Starts the processes, publishes the models, and opens the accounts. */
  async #begin(): Promise<SimulatedClient[]> {
    await Promise.all(this.processes.map(process => process.start()))
    const { core, services } = this.processes[0]?.running ?? expectedToRun()
    await publishShipped(core.log, core.publishedCatalog, families)
    const clients: SimulatedClient[] = []
    for (let number = 1; number <= this.#options.clients; number++) {
      const key = { name: 'first' }
      const opening = {
        email: `client-${number}@example.com`,
        tester: false,
        welcomeMicros: this.chance.pick(WELCOMES),
        key,
      }
      const { accountId, apiKey = '' } = unwrap(await services.accounts.open({ kind: 'service' }, opening))
      const [keyId] = (await core.accounts.state(accountId)).activeKeys.keys()
      clients.push(new SimulatedClient(this, accountId, { keyId: keyId ?? expectedToRun(), apiKey }))
    }
    await this.timeline.pass(1_000)
    return clients
  }

  /** Crashes processes, cuts ways, and harms the views, by chance. */
  async #harm() {
    while (!this.isCalm) {
      await this.timeline.pass(HARM_EVERY_MS)
      const { chance, faults } = this
      const process = chance.pick(this.processes)
      if (chance.happens(faults.crash)) this.#crash(process)
      if (chance.happens(faults.powerLoss)) {
        for (const each of this.processes) this.#crash(each)
        this.views.content = chance.pick(this.#unsynced)
      }
      if (faults.powerLoss > 0) this.#unsynced = [this.views.content, ...this.#unsynced].slice(0, MAX_UNSYNCED)
      if (chance.happens(faults.clockJump)) {
        process.skewMs += chance.pick([-600_000, -30_000, -3_000, 3_000, 30_000, 600_000])
        this.trace(`the clock of ${process.name} jumps`)
      }
      if (chance.happens(faults.suspension)) {
        this.epochMs += SUSPENSION_MS
        this.trace('all processes were suspended')
      }
      if (chance.happens(faults.partition)) {
        const way = `${process.name}-${chance.pick(['log', 'views', 'objects'])} ${chance.pick(['there', 'back'])}`
        this.#cuts.add(way)
        this.trace(`${way} is cut`)
        this.timeline.after(chance.between(0, 15_000), () => this.#cuts.delete(way))
      }
      if (chance.happens(faults.viewsHarmed)) this.#harmViews()
    }
  }

  #crash(process: SimulatedProcess) {
    if (!process.isUp) return
    process.crash()
    this.timeline.after(this.chance.between(0, 15_000), () => void process.start())
  }

  #harmViews() {
    const { views, chance } = this
    const harm = chance.pick(['keep', 'keep', 'roll back', 'set back', 'empty', 'forge', 'forge', 'forge'] as const)
    this.trace(`views: ${harm}`)
    if (harm === 'keep') this.#kept = views.content
    if (harm === 'roll back' && this.#kept) views.content = this.#kept
    if (harm === 'set back') this.#setBack()
    if (harm === 'empty') views.content = { checkpoint: undefined, cells: new Map(), snapshots: new Map() }
    if (harm === 'forge') this.#forge()
  }

  /** Sets only the checkpoint back. Setting it forward hides events from the projector, which `views verify` finds. */
  #setBack() {
    const [now, kept] = [this.views.content, this.#kept]
    if (kept && positionOf(kept) < positionOf(now)) this.views.content = { ...now, checkpoint: kept.checkpoint }
  }

  /** Forges a row of any view: they have as many rows as there are runs, or one for an account. */
  #forge() {
    const { views, chance } = this
    const content = views.content
    const rows = [...content.cells.keys()].filter(address => address.startsWith('rows/'))
    const view = chance.pick([...new Set(rows.map(address => address.split('/')[1]))])
    const address = chance.pick(rows.filter(row => row.split('/')[1] === view))
    if (!address) return
    const forged = String(content.cells.get(address)).replaceAll(/\d/g, '7')
    this.#forged.set(address, forged)
    content.cells.set(address, forged)
    views.content = content
  }

  async #untilAllEnded() {
    const endMs = this.timeline.nowMs + CALM_MS
    while (this.truth.open().length > 0 && this.timeline.nowMs < endMs) await this.timeline.pass(1_000)
    for (const open of this.truth.open()) this.fault(open)
  }

  /** Every process can start as many runs at once as it has slots. */
  async #expectFreeSlots(clients: SimulatedClient[]) {
    // A run may have been ended by one process while another still waits for the provider.
    await this.timeline.pass(LONGEST_CALL_MS)
    for (const { name, running, startsRuns } of this.processes) {
      if (!running || !startsRuns) continue
      const started = await Promise.all(Array.from({ length: SLOTS }, () => this.chance.pick(clients).runNow(running)))
      if (started.some(isStarted => !isStarted)) this.fault(`${name} has leaked slots`)
    }
    await this.#untilAllEnded()
  }

  /** Lets the grants of uploads end, and then the retention of all files. */
  async #outliveFiles() {
    for (const { name, running } of this.processes)
      if (running?.objects.arriving) this.fault(`${name} has kept ${running.objects.arriving} incomplete objects`)
    await this.#skip(AFTER_GRANTS_MS, () => this.files.open())
    this.files.expectFiles()
    await this.#skip(AFTER_RETENTION_MS, () => this.files.kept())
    this.files.expectFiles()
  }

  /** Lets time pass at once, as if all processes had been suspended, and waits until nothing is left to do. */
  async #skip(skippedMs: number, left: () => string[]) {
    this.epochMs += skippedMs
    const endMs = this.timeline.nowMs + CALM_MS
    while (left().length > 0 && this.timeline.nowMs < endMs) await this.timeline.pass(1_000)
    for (const rest of left()) this.fault(rest)
  }

  /** The projector reaches the head, and the views are as if rebuilt. */
  async #compareViews() {
    await this.timeline.pass(this.#forged.size > 0 ? REBUILD_MS : 5_000)
    const { services } = this.processes[0]?.running ?? expectedToRun()
    const differences = unwrap(await services.views.verify({ kind: 'operator', name: 'ada' }))
    const { cells } = this.views.content
    const noticed = differences.filter(({ address }) => cells.get(address) !== this.#forged.get(address))
    for (const { address, value } of noticed.slice(0, 5))
      this.fault(`the views differ at ${address}, which should be ${value}`)
    const head = await this.log.head()
    const reached = (await this.views.checkpoint())?.position
    if (reached !== head) this.fault(`the views are at ${reached}, and the log ends at ${head}`)
  }
}

/** Where a store's checkpoint is. Emptied views are behind any other: nobody can tell what is missing from them. */
const positionOf = ({ checkpoint }: Content): number =>
  checkpoint === undefined ? BEFORE_FIRST : JSON.parse(checkpoint).position

const expectedToRun = (): never => {
  throw new Error('the first process does not run')
}
