import { hasEnded, runKey } from '../../../projections/runs.ts'
import type { AccountId, Moded, RunId } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import type { Answer } from '../../../src/services/answer.ts'
import { type AccountCaller, keyIdOf, modeOf as keyMode } from '../../../src/services/caller.ts'
import type { RunResult } from '../../../src/services/runs/runs.ts'
import { operator } from './callers.ts'
import type { Dependencies } from './commands.ts'
import { readableSince } from './known.ts'
import { listen } from './listeners.ts'
import { NO_KEY, NOTHING, outcomeOf } from './outcome.ts'
import type { Running, SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** A request that a client may repeat. */
interface Request {
  model: string
  prompt: string
  image: { image_url: string } | undefined
  /** Undefined for a request that is sent once. */
  idempotencyKey: string | undefined
  /** Whether the client listens to the text as it arrives. */
  streams: boolean
  /** In live and in test mode, where it is another request. */
  sent: Record<Mode, { times: number; runId?: RunId }>
}

type Mode = 'live' | 'test'

const modeOf = ({ livemode }: Moded): Mode => (livemode === false ? 'test' : 'live')

/** The runs of one client, which requests, repeats, finds and cancels them, and remembers what it was told. */
export class ClientRuns {
  /** The runs that a process has accepted. */
  readonly accepted: RunId[] = []
  readonly #world: World
  readonly #accountId: AccountId
  readonly #dependencies: Pick<Dependencies, 'keys' | 'credits' | 'uploads'>
  /** The requests that may be repeated. */
  readonly #requests: Request[] = []
  #sent = 0

  constructor(world: World, accountId: AccountId, dependencies: Pick<Dependencies, 'keys' | 'credits' | 'uploads'>) {
    this.#world = world
    this.#accountId = accountId
    this.#dependencies = dependencies
  }

  async run(running: Running, process: SimulatedProcess): Promise<string> {
    const model = this.#world.chance.pick(['instant', 'patient', 'chat', 'fancy', 'fancy'])
    return this.#request(running, process, this.#newRequest(model))
  }

  /** A text that the client listens to as it arrives. */
  async talk(running: Running, process: SimulatedProcess): Promise<string> {
    return this.#request(running, process, this.#newRequest('chat', { streams: true }))
  }

  /** A run with an upload as its image, which must be there. */
  async retouch(running: Running, process: SimulatedProcess): Promise<string> {
    const upload = this.#dependencies.uploads.choose()
    if (!upload) return NOTHING
    const told = await this.#request(
      running,
      process,
      this.#newRequest('retouch', { image: { image_url: upload.address } }),
    )
    if (told === 'ok') this.#world.files.expectUsable(upload.uploadId, upload.wasDeleted)
    return told
  }

  /** The same request again, which must not be charged again. */
  async repeat(running: Running, process: SimulatedProcess): Promise<string> {
    const request = this.#world.chance.pick(this.#requests)
    return request ? this.#request(running, process, request) : NOTHING
  }

  /** Another request under a key that an accepted one has used. */
  async misuse(running: Running): Promise<string> {
    const request = this.#world.chance.pick(this.#requests)
    const caller = await this.#dependencies.keys.caller(running)
    if (!request || !caller || request.sent[modeOf(keyMode(caller))].runId === undefined) return NOTHING
    const { model, idempotencyKey } = request
    return outcomeOf(
      await running.services.runs.createRun(
        caller,
        { model, input: { prompt: 'another' } },
        { spender: 'runModel', idempotencyKey },
      ),
    )
  }

  async cancel(running: Running, process: SimulatedProcess): Promise<string> {
    const runId = this.choose()
    const caller = await this.#dependencies.keys.caller(running)
    if (!runId || !caller) return NOTHING
    const told = await running.services.runs.cancelRun(caller, runId, { waitMs: 500 })
    if ('value' in told) {
      this.#world.truth.expectRun(this.#accountId, process, told.value)
      this.#expectMode(caller, told.value)
    }
    return outcomeOf(told)
  }

  async find(running: Running, process: SimulatedProcess): Promise<string> {
    const runId = this.choose()
    const caller = await this.#dependencies.keys.caller(running)
    if (!runId || !caller) return NOTHING
    const since = await readableSince(this.#world, running, process, caller, 'shown')
    const found = await running.services.runs.findRun(caller, runId)
    if ('value' in found) {
      this.#world.truth.expectRun(this.#accountId, process, found.value, since)
      this.#expectMode(caller, found.value)
      // A client that sees its run end looks at its balance.
      if (hasEnded(found.value)) await this.#dependencies.credits.balance(running, process)
    } else if (this.#world.truth.isTest(runId) !== (keyMode(caller).livemode === false)) return 'of the other mode'
    else if (!['runs', 'archivedRuns'].some(view => this.#world.isForged(view, runKey(this.#accountId, runId))))
      this.#world.truth.expectNoRun(this.#accountId, runId, since)
    return outcomeOf(found)
  }

  /** A part or the rest of a charge, which two operators may refund at the same time. */
  async refund({ services: { refunds } }: Running): Promise<string> {
    const { chance } = this.#world
    const runId = this.choose()
    if (!runId) return NOTHING
    const refund = { ...(chance.happens(0.5) && { amountMicros: 500_000 }), reason: 'blurry' }
    const times = chance.happens(0.5) ? 2 : 1
    const told = await Promise.all(Array.from({ length: times }, () => refunds.refund(operator, runId, refund)))
    for (const each of told)
      if ('value' in each) this.#world.truth.expectRefund(this.#accountId, runId, each.value.amountMicros)
    return outcomeOf(told[0] as Answer<unknown>)
  }

  async redeliver({ services }: Running): Promise<string> {
    const runId = this.choose()
    if (!runId) return NOTHING
    const told = outcomeOf(await services.webhooks.redeliver(operator, this.#accountId, runId))
    // A forged row is absent until the views are rebuilt.
    return told === 'account_not_found' && this.#world.isForged('accounts', this.#accountId) ? NOTHING : told
  }

  #newRequest(model: string, { image, streams = false }: Partial<Pick<Request, 'image' | 'streams'>> = {}): Request {
    this.#sent += 1
    const [prompt, key] = [`prompt ${this.#sent}`, `key-${this.#sent}`]
    const idempotencyKey = streams && this.#world.chance.happens(0.5) ? undefined : key
    const sent = { live: { times: 0 }, test: { times: 0 } }
    const request = { model, prompt, image, streams, idempotencyKey, sent }
    if (idempotencyKey !== undefined) this.#requests.push(request)
    return request
  }

  async #request(running: Running, process: SimulatedProcess, request: Request): Promise<string> {
    const { model, prompt, image, streams, idempotencyKey } = request
    const { runs } = running.services
    // The client's uploads are live.
    const caller = await (image ? this.#dependencies.keys.liveCaller(running) : this.#dependencies.keys.caller(running))
    if (!caller) return NO_KEY
    const mode = modeOf(keyMode(caller))
    const sent = request.sent[mode]
    const body = { model, input: { prompt, ...image }, webhook_url: `https://receiver.example/${this.#accountId}` }
    sent.times += 1
    const isFirst = sent.times === 1
    const before = this.#world.truth.lastBalance(this.#accountId)
    const options = { spender: 'runModel', idempotencyKey } as const
    const streamed = streams ? await runs.streamRun(caller, body, options) : undefined
    const told = streamed ?? (await runs.createRun(caller, body, { ...options, waitMs: 2_000 }))
    if ('refuse' in told) {
      this.#dependencies.credits.expectRefusal(told.refuse, before, keyIdOf(caller))
      if (mode === 'test' && ['insufficient_credits', 'budget_exceeded'].includes(told.refuse.code))
        this.#world.violation(`a test run is refused with ${told.refuse.code}`)
    } else {
      if (told.value.replayed && isFirst && sent.times === 1)
        this.#world.violation(`${idempotencyKey} was sent once, and answered as a repeat`)
      this.#expectMode(caller, told.value.row)
      this.#accept(process, request, told.value)
    }
    if (streamed && 'value' in streamed)
      await listen(this.#world, streamed.value, { running, process, caller, goesOn: idempotencyKey !== undefined })
    const outcome = outcomeOf(told)
    if (outcome === 'ok' && mode === 'test') this.#world.count('test run ok')
    return outcome
  }

  /** A key is told of nothing that is of the other mode. */
  #expectMode(caller: AccountCaller, { runId, livemode }: RunRow) {
    if (keyMode(caller).livemode !== livemode) this.#world.violation(`${runId} is shown to a key of the other mode`)
  }

  #accept(process: SimulatedProcess, { idempotencyKey, sent }: Request, { row, replayed }: RunResult) {
    const { truth } = this.#world
    const inMode = sent[modeOf(row)]
    if (inMode.runId !== undefined && inMode.runId !== row.runId)
      this.#world.violation(`${idempotencyKey} was ${inMode.runId}, and is ${row.runId}`)
    if (inMode.runId === undefined) this.accepted.push(row.runId)
    inMode.runId = row.runId
    truth.expectRun(this.#accountId, process, row)
    // An earlier request may have been accepted by another process.
    if (!replayed) truth.noteAccepted(this.#accountId, process, row.runId)
  }

  /** One of the client's runs, often the newest. */
  choose(): RunId | undefined {
    return this.#world.chance.happens(0.5) ? this.accepted.at(-1) : this.#world.chance.pick(this.accepted)
  }
}
