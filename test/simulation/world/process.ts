import type { PriceList } from '../../../schemas/binding.ts'
import type { Role } from '../../../schemas/environment.ts'
import { openService } from '../../../src/boot/compose.ts'
import { type Core, openCore } from '../../../src/boot/core.ts'
import { readConfig } from '../../../src/boot/read-config.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Logger } from '../../../src/ports/logger.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { KeyHolders } from '../../../src/services/accounts/key-holders.ts'
import { KeyUses } from '../../../src/services/accounts/key-uses.ts'
import type { Bound } from '../../../src/services/providers/routes.ts'
import type { Services } from '../../../src/services/services.ts'
import { SessionTokens } from '../../../src/services/sign-in/browser-tokens.ts'
import { SessionHolders } from '../../../src/services/sign-in/sessions.ts'
import { boundTo } from '../../support/bound-to.ts'
import { simulatedMailer } from './mailer.ts'
import { SimulatedObjects } from './object-store.ts'
import { objectsOverWire } from './object-wire.ts'
import { logOverWire, outboundOverWire, paymentsOverWire, providerOverWire, viewsOverWire } from './port-wires.ts'
import { SEAL_KEY } from './seals.ts'
import { Submissions } from './submissions.ts'
import { SimulatedViews } from './view-store.ts'
import { Wire } from './wire.ts'
import type { World } from './world.ts'

/** How the provider of the text model counts tokens. */
const tokenPrices: PriceList = {
  currency: 'USD',
  units: [
    { unit: 'input_tokens', micros: 1, per: 1, tokens: 'input', without: ['cached_tokens'] },
    { unit: 'cached_tokens', micros: 1, per: 10, tokens: 'cached_input', mayBeAbsent: true },
    { unit: 'output_tokens', micros: 5, per: 1, tokens: 'output' },
  ],
}

const bindingsOf = (endpoint: string): Bound[] => {
  const bound = (PROVIDERS[endpoint] ?? ['patient']).flatMap(name => boundTo(name)(endpoint))
  if (endpoint !== 'chat-t2t') return bound
  const longest = { from: 'max_output_tokens', to: 'max_tokens' }
  return bound.map(each => ({ ...each, parameters: [...each.parameters, longest], price: tokenPrices }))
}

/** The providers of endpoints, in order of preference; of all others, `patient`. */
const PROVIDERS: Record<string, string[]> = {
  'instant-t2i': ['instant'],
  'retouch-i2i': ['instant'],
  'chat-t2t': ['instant'],
  'fancy-t2i': ['vendor', 'patient'],
}

export const MASTER_SECRET = 'a secret of the simulated world, long enough'

const config = readConfig({
  MASTER_SECRET,
  WELCOME_CREDITS: '20',
  OPERATOR_EMAIL: 'operator@example.com',
  UPLOAD_GRANT_MINUTES: '0.2',
  SEAL_KEY,
  SEAL_EVENTS: '40',
  SEAL_MINUTES: '0.1',
})

const ALL_ROLES: Role[] = ['projector', 'reactors', 'sealer']

/** The work that processes share out. None of them has to do any, since clients call their services directly. */
const ROLES: Role[][] = [[...ALL_ROLES], ['projector', 'sealer'], ['projector'], ['reactors'], ['sealer'], []]

/** Few, so that runs wait for them, and a leaked one is missed. */
export const SLOTS = 3

export interface Running {
  core: Core
  services: Services
  keyHolders: KeyHolders
  keyUses: KeyUses
  sessionHolders: SessionHolders
  objects: SimulatedObjects
  submissions: Submissions
  /** Ends the work in progress, and then the process. */
  stop(): Promise<void>
}

/** One process of the service, which may crash and start again. */
export class SimulatedProcess {
  readonly name: string
  /** Undefined while it starts, and after a crash. */
  running: Running | undefined
  /** How far its clock is from the world's. */
  skewMs: number
  readonly #world: World
  readonly #roles: Role[]
  /** Counts the starts. */
  life = 0
  #isUp = false

  /** A world needs a process with all roles. The others may have any. */
  constructor(world: World, name: string, hasAllRoles: boolean) {
    this.#world = world
    this.name = name
    this.#roles = hasAllRoles ? ALL_ROLES : world.chance.pick(ROLES)
    this.skewMs = world.chance.between(-500, 500)
  }

  get startsRuns(): boolean {
    return this.#roles.includes('reactors')
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Starts it unless it is up, and again whenever the start fails. */
  async start(): Promise<void> {
    if (this.#isUp) return
    this.life += 1
    this.#isUp = true
    const life = this.life
    const isAlive = () => this.#isUp && this.life === life
    this.#world.trace(`${this.name} starts (${this.#roles})`)
    try {
      const running = await this.#open(isAlive)
      if (isAlive()) this.running = running
      this.#world.trace(`${this.name} is up`)
    } catch (error) {
      this.#world.trace(`${this.name} does not start: ${error}`)
      if (!isAlive()) return
      this.crash()
      this.#world.timeline.after(1_000, () => void this.start())
    }
  }

  /** Ends it as an operator does. It takes no more requests. */
  async stop(): Promise<void> {
    const { running, life } = this
    this.running = undefined
    await running?.stop().catch(error => this.#world.violation(`${this.name} could not stop: ${error.stack}`))
    if (this.life === life) this.crash()
  }

  /** Ends it at once. Its calls get no answers, and its timers do not fire. */
  crash() {
    this.#world.trace(`${this.name} crashes`)
    this.#isUp = false
    this.running = undefined
  }

  async #open(isAlive: () => boolean): Promise<Running> {
    const world = this.#world
    const objects = new SimulatedObjects(world.bucket)
    const submissions = new Submissions((provider, open, ofAccount, runId) => {
      if (world.truth.isTest(runId) !== (provider === 'sandbox'))
        world.violation(`${runId} is submitted to ${provider}`)
      if (open > SLOTS) world.violation(`${this.name} submits ${open} runs to ${provider} at once`)
      if (ofAccount === SLOTS) world.violation(`${this.name} leaves no slot of ${provider} to other accounts`)
    })
    const vendor: Provider = { ...world.vendor.port(true), deduplicates: false }
    const wire = (to: string) => new Wire(world, `${this.name}-${to}`, isAlive)
    const substitutes = {
      clock: this.#clock(isAlive),
      random: world.chance.fork(),
      logger: this.#logger(),
      log: logOverWire(wire('log'), world.log),
      views: viewsOverWire(wire('views'), world.views),
      openScratch: async () => ({ scratch: new SimulatedViews(), discard: async () => undefined }),
      objects: objectsOverWire(wire('objects'), objects),
      mailer: simulatedMailer(world),
      outbound: outboundOverWire(wire('receiver'), world.receiver.port()),
      payments: paymentsOverWire(wire('payments'), world.payments.port()),
      limits: { accountsInMemory: 2, permitsPerProvider: SLOTS, leaseMs: world.leaseMs },
      providers: {
        instant: submissions.counted('instant', providerOverWire(wire('instant'), world.provider.port(false))),
        patient: submissions.counted('patient', providerOverWire(wire('patient'), world.provider.port(true))),
        // Nobody is bound to it: it does the test runs.
        sandbox: submissions.counted('sandbox', providerOverWire(wire('sandbox'), world.provider.port(true))),
        vendor: submissions.counted('vendor', world.paidJobs.billed(providerOverWire(wire('vendor'), vendor))),
      },
      bindingsOf,
    }
    const core = await openCore({ ...config, retention: world.retention, roles: new Set(this.#roles) }, substitutes)
    const service = await openService(core, () => world.publicUrl, substitutes)
    service.start()
    const stop = async () => {
      await service.stop()
      await service.close()
      await core.close()
    }
    const keyHolders = new KeyHolders(core.reads, core.accounts)
    const keyUses = new KeyUses({ accounts: core.accounts, clock: core.clock, logger: core.logger })
    const tokens = new SessionTokens(core.masterSecret)
    const sessionHolders = new SessionHolders({ accounts: core.accounts, tokens, clock: core.clock })
    return { core, services: service.services, keyHolders, keyUses, sessionHolders, objects, submissions, stop }
  }

  #clock(isAlive: () => boolean): Clock {
    const { timeline } = this.#world
    return {
      nowMs: () => Math.floor(this.#world.epochMs + timeline.nowMs + this.skewMs),
      monotonicMs: () => timeline.nowMs,
      timer: (delayMs, callback) => {
        const cancel = timeline.after(delayMs, () => {
          if (isAlive()) callback()
        })
        const timer = { cancel, unref: () => timer }
        return timer
      },
    }
  }

  #logger(): Logger {
    const write = (level: string) => (facts: object, message: string) => {
      const { err, refused } = facts as { err?: unknown; refused?: string }
      this.#world.trace(`${this.name} ${level}: ${message}${err ? ` (${err})` : ''}`)
      // A report of the payment service, which nobody brings again.
      if (refused) this.#world.violation(`${this.name}: ${message}: ${refused}`)
      if (err instanceof TypeError || err instanceof ReferenceError) this.#world.violation(`${this.name}: ${err.stack}`)
    }
    return {
      isLevelEnabled: () => false,
      debug: () => undefined,
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      fatal: write('fatal'),
    }
  }
}
