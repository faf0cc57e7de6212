import { runKey } from '../../../projections/runs.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Dependencies } from './commands.ts'
import { NO_KEY, NOTHING, outcomeOf } from './outcome.ts'
import type { Running } from './process.ts'
import type { World } from './world.ts'

/** The webhooks of one client, which has them sent again, lists and tests them, and rotates their secret. */
export class ClientWebhooks {
  readonly #world: World
  readonly #accountId: AccountId
  readonly #dependencies: Pick<Dependencies, 'keys' | 'runs'>
  /** The secrets that rotations have returned. */
  readonly #secrets = new Set<string>()

  constructor(world: World, accountId: AccountId, dependencies: Pick<Dependencies, 'keys' | 'runs'>) {
    this.#world = world
    this.#accountId = accountId
    this.#dependencies = dependencies
  }

  async resend(running: Running): Promise<string> {
    const { keys, runs } = this.#dependencies
    const caller = await keys.caller(running)
    const runId = runs.choose()
    if (!caller || !runId) return NOTHING
    const told = await running.services.deliveries.resend(caller, runId)
    if ('value' in told && told.value.status !== 'pending')
      this.#world.violation(`the webhook of ${runId} is to be sent again, and is shown as ${told.value.status}`)
    return outcomeOf(told)
  }

  async listDeliveries(running: Running): Promise<string> {
    const caller = await this.#dependencies.keys.caller(running)
    if (!caller) return NO_KEY
    const told = await running.services.deliveries.list(caller, { limit: 20 })
    if ('value' in told) for (const row of told.value.found) this.#world.truth.expectDelivery(this.#accountId, row)
    return outcomeOf(told)
  }

  /** The delivery of a run, which always has one. */
  async findDelivery(running: Running): Promise<string> {
    const { keys, runs } = this.#dependencies
    const caller = await keys.caller(running)
    const runId = runs.choose()
    if (!caller || !runId) return NOTHING
    const told = await running.services.deliveries.ofRun(caller, runId)
    if ('refuse' in told) return outcomeOf(told)
    for (const row of told.value) this.#world.truth.expectDelivery(this.#accountId, row)
    const mayBeMissing =
      this.#world.retention.runsMs !== undefined || this.#world.isForged('webhooks', runKey(this.#accountId, runId))
    if (told.value.length === 0 && !mayBeMissing) this.#world.violation(`${runId} is shown without its webhook`)
    return 'ok'
  }

  async rotateSecret(running: Running): Promise<string> {
    const caller = await this.#dependencies.keys.caller(running)
    if (!caller) return NO_KEY
    const told = await running.services.webhooks.rotateSecret(caller, this.#accountId)
    if ('value' in told) {
      if (this.#secrets.has(told.value.secret)) this.#world.violation(`${this.#accountId} got the same secret twice`)
      this.#secrets.add(told.value.secret)
    }
    return outcomeOf(told)
  }

  async testWebhook(running: Running): Promise<string> {
    const caller = await this.#dependencies.keys.caller(running)
    if (!caller) return NO_KEY
    const url = `https://receiver.example/test/${this.#accountId}`
    const told = await running.services.webhookTests.send(caller, url)
    if ('value' in told) this.#world.truth.expectTestResult(this.#accountId, told.value)
    return outcomeOf(told)
  }
}
