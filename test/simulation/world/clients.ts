import { hasEnded, runKey } from '../../../projections/runs.ts'
import type { AccountId, KeyId, RunId, SessionId } from '../../../schemas/primitives.ts'
import type { Refusal } from '../../../src/domain/refusal.ts'
import { InDoubt, Unavailable } from '../../../src/ports/faults.ts'
import type { Answer } from '../../../src/services/answer.ts'
import type { AccountCaller } from '../../../src/services/caller.ts'
import type { RunResult } from '../../../src/services/runs/runs.ts'
import { unwrap } from '../../support/unwrap.ts'
import { mustBeAvailable } from './faults.ts'
import { NOTHING, outcomeOf } from './outcome.ts'
import type { Running, SimulatedProcess } from './process.ts'
import { ClientUploads } from './uploads.ts'
import type { World } from './world.ts'

const operator = { kind: 'operator', name: 'ada' } as const

/** The account's owner, who needs no key. */
const ownerOf = (accountId: AccountId) =>
  ({ kind: 'session', accountId, sessionId: 'sess_01h2xcejqtf2nbrexx3vqjhp41' as SessionId }) as const

/** How long a client waits for an answer before it goes on without one. */
const PATIENCE_MS = 40_000

/** Commands of one client at a time. */
const AT_A_TIME = 2

interface Key {
  keyId: KeyId
  apiKey: string
}

/** A command without an answer so far. */
interface Pending {
  command: string
  process: SimulatedProcess
  life: number
}

/** A request that a client may repeat. */
interface Request {
  model: string
  prompt: string
  idempotencyKey: string
  timesSent: number
  imageUrl?: string
  runId?: RunId
}

/** A client with an account, which sends commands by chance to any process, and remembers what it was told. */
export class SimulatedClient {
  readonly #world: World
  readonly #accountId: AccountId
  readonly #keys: Key[]
  readonly #uploads: ClientUploads
  readonly #requests: Request[] = []
  readonly #runs: RunId[] = []
  readonly #pending = new Set<Pending>()
  #hasRevoked = false
  #count = 0

  constructor(world: World, accountId: AccountId, firstKey: Key) {
    this.#world = world
    this.#accountId = accountId
    this.#keys = [firstKey]
    this.#uploads = new ClientUploads(world, accountId)
  }

  /** Sends commands, a few at a time, until the world asks it to stop. */
  async live(): Promise<void> {
    await Promise.all(Array.from({ length: AT_A_TIME }, () => this.#sendAll()))
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
    const { world, accountId } = { world: this.#world, accountId: this.#accountId }
    const command = world.chance.pick(COMMANDS)
    const pending = { command, process, life: process.life }
    this.#pending.add(pending)
    try {
      const told = isOfUploads(command)
        ? await this.#sendFile(command, running, process)
        : await this[command](running, process)
      world.trace(`${accountId} ${command}: ${told}`)
      world.count(`${command} ${told}`)
      if (EXPECTED[command]?.includes(told) === false || (OF_REVOKED_KEYS.includes(told) && this.#hasAllKeys))
        world.violation(`${accountId} ${command}: ${told}`)
    } catch (error) {
      world.trace(`${accountId} ${command}: ${error}`)
      // A service may be unable to answer, but not broken.
      const isExcused = !mustBeAvailable(world.drawn) && (error instanceof Unavailable || error instanceof InDoubt)
      if (!isExcused) world.violation(`${command} failed with ${(error as Error).stack}`)
    } finally {
      this.#pending.delete(pending)
    }
  }

  /** Whether every process must accept every key of the client. New keys are unknown to views that are behind. */
  get #hasAllKeys(): boolean {
    return !this.#hasRevoked && this.#keys.length === 1 && !this.#world.nemesis.hasForged('keys')
  }

  /** Expects that every command was answered, unless its process ended. */
  expectNonePending() {
    for (const { command, process, life } of this.#pending)
      if (process.life === life) this.#world.violation(`${this.#accountId} ${command} was never answered`)
  }

  /** Expects that a process tells how the account stands, now that nothing changes any more. */
  async expectAnswers({ running, name }: SimulatedProcess): Promise<void> {
    if (!running) return
    const { truth, violation } = this.#world
    const { accounts, runs, uploads } = running.services
    const caller = ownerOf(this.#accountId)
    try {
      const { balanceMicros } = unwrap(await accounts.balance(caller))
      truth.expectBalance(this.#accountId, truth.lastBalance(this.#accountId), balanceMicros)
      unwrap(await uploads.list(caller, { limit: 1 }))
      for (const runId of this.#runs) {
        if (this.#world.isForged('runs', runKey(this.#accountId, runId))) continue
        if (!hasEnded(unwrap(await runs.find(caller, runId)))) violation(`${name} shows that ${runId} has not ended`)
      }
    } catch (error) {
      violation(`${name} does not answer ${this.#accountId}: ${(error as Error).stack}`)
    }
  }

  async run(running: Running, process: SimulatedProcess): Promise<string> {
    const { chance } = this.#world
    this.#count += 1
    const request = {
      model: chance.pick(['instant', 'patient', 'fancy']),
      prompt: `prompt ${this.#count}`,
      idempotencyKey: `key-${this.#count}`,
      timesSent: 0,
    }
    this.#requests.push(request)
    return this.#request(running, process, request)
  }

  /** A run with an upload as its image, which must be there. */
  async retouch(running: Running, process: SimulatedProcess): Promise<string> {
    const upload = this.#uploads.choose()
    if (!upload) return NOTHING
    this.#count += 1
    const [prompt, idempotencyKey] = [`prompt ${this.#count}`, `key-${this.#count}`]
    const request: Request = { model: 'retouch', prompt, idempotencyKey, timesSent: 0, imageUrl: upload.address }
    this.#requests.push(request)
    const told = await this.#request(running, process, request)
    if (told === 'ok') this.#world.files.expectUsable(upload.uploadId, upload.wasDeleted)
    return told
  }

  /** Whether a process starts a sync run at once, instead of leaving it in the queue. */
  async runNow({ services, core }: Running): Promise<boolean> {
    const amountMicros = 10_000_000
    await services.accounts.grant(operator, this.#accountId, { amountMicros, kind: 'courtesy', reason: 'last run' })
    const caller = ownerOf(this.#accountId)
    const told = await services.runs.run(caller, { model: 'instant', input: { prompt: 'last' } }, { waitMs: 0 })
    if ('refuse' in told) return false
    const { openRuns } = await core.accounts.currentState(this.#accountId)
    return openRuns.get(told.value.row.runId)?.isStarted !== false
  }

  /** The same request again, which must not be charged again. */
  async repeat(running: Running, process: SimulatedProcess): Promise<string> {
    const request = this.#world.chance.pick(this.#requests)
    return request ? this.#request(running, process, request) : NOTHING
  }

  /** Another request under a key that an accepted one has used. */
  async misuse(running: Running): Promise<string> {
    const request = this.#world.chance.pick(this.#requests)
    const caller = await this.#caller(running)
    if (request?.runId === undefined || !caller) return NOTHING
    const { model, idempotencyKey } = request
    return outcomeOf(
      await running.services.runs.run(caller, { model, input: { prompt: 'another' } }, { idempotencyKey }),
    )
  }

  async cancel(running: Running, process: SimulatedProcess): Promise<string> {
    const runId = this.#chooseRun()
    const caller = await this.#caller(running)
    if (!runId || !caller) return NOTHING
    const told = await running.services.runs.cancel(caller, runId, { waitMs: 500 })
    if ('value' in told) this.#world.truth.expectRun(this.#accountId, process, told.value)
    return outcomeOf(told)
  }

  async find(running: Running, process: SimulatedProcess): Promise<string> {
    const runId = this.#chooseRun()
    const caller = await this.#caller(running)
    if (!runId || !caller) return NOTHING
    const since = await this.#readableSince(running, process, caller, 'shown')
    const found = await running.services.runs.find(caller, runId)
    if ('value' in found) {
      this.#world.truth.expectRun(this.#accountId, process, found.value, since)
      // A client that sees its run end looks at its balance.
      if (hasEnded(found.value)) await this.balance(running, process)
    } else if (!this.#world.isForged('runs', runKey(this.#accountId, runId)))
      this.#world.truth.expectNoRun(this.#accountId, runId, since)
    return outcomeOf(found)
  }

  async balance(running: Running, process: SimulatedProcess): Promise<string> {
    const caller = await this.#caller(running)
    if (!caller) return 'no key'
    const since = await this.#readableSince(running, process, caller, 'acknowledged')
    const told = await running.services.accounts.balance(caller)
    if ('value' in told) this.#world.truth.expectBalance(this.#accountId, since, told.value.balanceMicros)
    return outcomeOf(told)
  }

  async grant(running: Running, process: SimulatedProcess): Promise<string> {
    const reference = `invoice-${this.#world.chance.below(20)}`
    const grant = { amountMicros: 5_000_000, kind: 'purchase', reference, reason: 'top-up' } as const
    const told = await running.services.accounts.grant(operator, this.#accountId, grant)
    if ('value' in told) this.#world.truth.expectReference(this.#accountId, process, reference)
    return outcomeOf(told)
  }

  async withdraw(running: Running, process: SimulatedProcess): Promise<string> {
    const reference = `mistake-${this.#world.chance.below(20)}`
    const withdrawal = { amountMicros: 3_000_000, kind: 'correction', reference, reason: 'mistake' } as const
    const before = this.#world.truth.lastBalance(this.#accountId)
    const told = await running.services.accounts.withdraw(operator, this.#accountId, withdrawal)
    if ('value' in told) this.#world.truth.expectReference(this.#accountId, process, reference)
    else this.#expectRefusal(told.refuse, before)
    return outcomeOf(told)
  }

  /** A part or the rest of a charge, which two operators may refund at the same time. */
  async refund({ services: { refunds } }: Running): Promise<string> {
    const { chance } = this.#world
    const runId = this.#chooseRun()
    if (!runId) return NOTHING
    const refund = { ...(chance.happens(0.5) && { amountMicros: 500_000 }), reason: 'blurry' }
    const times = chance.happens(0.5) ? 2 : 1
    const told = await Promise.all(Array.from({ length: times }, () => refunds.refund(operator, runId, refund)))
    for (const each of told)
      if ('value' in each) this.#world.truth.expectRefund(this.#accountId, runId, each.value.amountMicros)
    return outcomeOf(told[0] as Answer<unknown>)
  }

  async createKey(running: Running): Promise<string> {
    const created = await running.services.keys.create(operator, this.#accountId, { name: `key ${this.#count}` })
    if ('value' in created) {
      this.#world.truth.expectKey(this.#accountId, created.value.keyId, 'active')
      this.#keys.push(created.value)
    }
    return outcomeOf(created)
  }

  async revokeKey(running: Running): Promise<string> {
    if (this.#keys.length < 2) return NOTHING
    const { keyId } = this.#world.chance.pick(this.#keys)
    this.#hasRevoked = true
    const told = await running.services.keys.revoke(operator, this.#accountId, keyId)
    if ('value' in told) this.#world.truth.expectKey(this.#accountId, keyId, 'revoked')
    return outcomeOf(told)
  }

  async redeliver({ services }: Running): Promise<string> {
    const runId = this.#chooseRun()
    if (!runId) return NOTHING
    const told = outcomeOf(await services.webhooks.redeliver(operator, this.#accountId, runId))
    // A forged row is absent until the views are rebuilt.
    return told === 'account_not_found' && this.#world.isForged('accounts', this.#accountId) ? NOTHING : told
  }

  async #sendFile(command: UploadCommand, running: Running, process: SimulatedProcess): Promise<string> {
    const caller = await this.#caller(running)
    return caller ? this.#uploads[command](running, process, caller) : 'no key'
  }

  async #request(running: Running, process: SimulatedProcess, request: Request): Promise<string> {
    const caller = await this.#caller(running)
    if (!caller) return 'no key'
    const { model, prompt, idempotencyKey, imageUrl } = request
    const input = { prompt, ...(imageUrl !== undefined && { image_url: imageUrl }) }
    const body = { model, input, webhook_url: `https://receiver.example/${this.#accountId}` }
    request.timesSent += 1
    const isFirst = request.timesSent === 1
    const before = this.#world.truth.lastBalance(this.#accountId)
    const told = await running.services.runs.run(caller, body, { idempotencyKey, waitMs: 2_000 })
    if ('refuse' in told) this.#expectRefusal(told.refuse, before)
    else {
      if (told.value.replayed && isFirst && request.timesSent === 1)
        this.#world.violation(`${idempotencyKey} was sent once, and answered as a repeat`)
      this.#accepted(process, request, told.value)
    }
    return outcomeOf(told)
  }

  /** Too few credits are those that the account had at some time since the command was sent. */
  #expectRefusal(refusal: Refusal, sentAt: number) {
    if (refusal.code !== 'insufficient_credits') return
    const { requiredMicros, balanceMicros } = refusal
    this.#world.truth.expectBalance(this.#accountId, sentAt, balanceMicros)
    if (requiredMicros <= balanceMicros) this.#world.violation(`${balanceMicros} were too few for ${requiredMicros}`)
  }

  #accepted(process: SimulatedProcess, request: Request, { row, replayed }: RunResult) {
    const { truth } = this.#world
    if (request.runId !== undefined && request.runId !== row.runId)
      this.#world.violation(`${request.idempotencyKey} was ${request.runId}, and is ${row.runId}`)
    if (request.runId === undefined) this.#runs.push(row.runId)
    request.runId = row.runId
    truth.expectRun(this.#accountId, process, row)
    // An earlier request may have been accepted by another process.
    if (!replayed) truth.noteAccepted(this.#accountId, process, row.runId)
  }

  /**
   * The position up to which the client's next read must show its account: that of what this process has acknowledged
   * or shown, or of all acknowledged writes, if the client names their position.
   */
  async #readableSince(
    { services }: Running,
    process: SimulatedProcess,
    caller: AccountCaller,
    what: 'acknowledged' | 'shown',
  ): Promise<number> {
    const { chance, truth, processes } = this.#world
    const since = truth[what].at(this.#accountId, process)
    if (chance.happens(0.5)) return since
    const last = Math.max(...processes.map(each => truth.acknowledged.at(this.#accountId, each)))
    unwrap(await services.positions.wait(caller, last))
    return Math.max(since, last)
  }

  /** One of the client's runs, often the newest. */
  #chooseRun(): RunId | undefined {
    return this.#world.chance.happens(0.5) ? this.#runs.at(-1) : this.#world.chance.pick(this.#runs)
  }

  async #caller(running: Running): Promise<AccountCaller | undefined> {
    const { apiKey } = this.#world.chance.pick(this.#keys)
    const holder = await running.keyHolders.holderOf(apiKey)
    return holder && { kind: 'key', ...holder }
  }
}

/** What clients do with uploads. */
const UPLOAD_COMMANDS = ['upload', 'presign', 'putAgain', 'findUpload', 'listUploads', 'deleteUpload'] as const
type UploadCommand = (typeof UPLOAD_COMMANDS)[number]

const isOfUploads = (command: string): command is UploadCommand => UPLOAD_COMMANDS.some(each => each === command)

/** What clients do, the frequent things more than once. */
const COMMANDS = [
  ...(['run', 'run', 'run', 'run', 'run', 'repeat', 'repeat', 'cancel', 'find', 'find', 'balance', 'balance'] as const),
  ...(['misuse', 'grant', 'withdraw', 'refund', 'redeliver', 'createKey', 'revokeKey'] as const),
  ...(['retouch', 'retouch', 'upload', 'upload', ...UPLOAD_COMMANDS] as const),
]

const OF_REVOKED_KEYS = ['no key', 'key_revoked']
const ofKeys = ['ok', NOTHING, ...OF_REVOKED_KEYS]

/** The expected outcomes of commands, except those of uploads, which `uploads.ts` judges. */
const EXPECTED: Partial<Record<(typeof COMMANDS)[number], string[]>> = {
  run: [...ofKeys, 'insufficient_credits'],
  repeat: [...ofKeys, 'insufficient_credits', 'input_file_refused'],
  misuse: [NOTHING, ...OF_REVOKED_KEYS, 'idempotency_mismatch'],
  cancel: [...ofKeys, 'run_not_open', 'run_not_found'],
  find: [...ofKeys, 'run_not_found'],
  balance: ofKeys,
  grant: ['ok'],
  withdraw: ['ok', 'insufficient_credits'],
  refund: ['ok', NOTHING, 'run_not_found', 'run_not_ended', 'refund_too_high'],
  redeliver: ['ok', NOTHING, 'webhook_not_found', 'run_not_ended', 'webhook_pending'],
  createKey: ['ok', 'too_many_keys'],
  revokeKey: ['ok', NOTHING, 'key_not_found'],
  retouch: [...ofKeys, 'insufficient_credits', 'input_file_refused'],
}
