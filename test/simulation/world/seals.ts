import { createPublicKey } from 'node:crypto'
import { check, parseKeys } from '#verify'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { KeptSeal } from '../../../src/audit/kept-seals.ts'
import { verifyLog } from '../../../src/audit/verify/verify.ts'
import type { ClientKeys } from './keys.ts'
import { NO_KEY, NOTHING, outcomeOf } from './outcome.ts'
import type { Running } from './process.ts'
import type { ClientRuns } from './runs.ts'
import type { World } from './world.ts'

/** Signs the seals of the world: the secret key of the first example of RFC 8032, section 7.1. */
export const SEAL_KEY = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`
const publicKeys = parseKeys(createPublicKey(SEAL_KEY).export({ type: 'spki', format: 'pem' }).toString())

/** The seals that one client keeps, and the proofs that it checks. */
export class ClientSeals {
  readonly #world: World
  readonly #accountId: AccountId
  readonly #keys: ClientKeys
  readonly #runs: ClientRuns
  readonly #kept: KeptSeal[] = []

  constructor(world: World, accountId: AccountId, { keys, runs }: { keys: ClientKeys; runs: ClientRuns }) {
    this.#world = world
    this.#accountId = accountId
    this.#keys = keys
    this.#runs = runs
  }

  /** Keeps the newest seal that a process knows. The log must hold it at the end. */
  async keepSeal(running: Running): Promise<string> {
    const caller = await this.#keys.liveCaller(running)
    if (!caller) return NO_KEY
    const told = await running.services.seals.find(caller)
    if ('value' in told) this.#keep(told.value)
    return outcomeOf(told)
  }

  /** Checks the proof of a run without the log. */
  async proveRun(running: Running): Promise<string> {
    const runId = this.#world.chance.pick(this.#runs.accepted.filter(id => !this.#world.truth.isTest(id)))
    if (!runId) return NOTHING
    const caller = await this.#keys.liveCaller(running)
    if (!caller) return NO_KEY
    const told = await running.services.proofs.run(caller, runId)
    if ('refuse' in told) return outcomeOf(told)
    const { event, leaf } = told.value
    this.#check(told.value)
    if (leaf.stream !== accountStream(this.#accountId) || !event.dataText?.includes(runId))
      this.#world.violation(`the proof of ${runId} is about ${event.linkText} of ${leaf.stream}`)
    return 'ok'
  }

  /** Checks that the newest seal that the client kept extends the oldest. */
  async proveConsistency(running: Running): Promise<string> {
    // A process that cannot reach the log shows the newest seal that it knows.
    const byNumber = this.#kept.toSorted((one, other) => one.number - other.number)
    const [first, last] = [byNumber.at(0), byNumber.at(-1)]
    if (!first || !last || first.number === last.number) return NOTHING
    const caller = await this.#keys.liveCaller(running)
    if (!caller) return NO_KEY
    const told = await running.services.proofs.consistency(caller, first.number, last.number)
    if ('value' in told) this.#check(told.value, first)
    return outcomeOf(told)
  }

  #keep({ number, name }: KeptSeal) {
    const { keptSeals, violation } = this.#world
    const before = keptSeals.get(number)
    if (before !== undefined && before !== name) violation(`seal ${number} was shown as ${before} and as ${name}`)
    keptSeals.set(number, name)
    this.#kept.push({ number, name })
  }

  #check(proof: object, kept?: KeptSeal) {
    try {
      check(JSON.stringify(proof), publicKeys, kept?.name)
    } catch (error) {
      this.#world.violation(`${this.#accountId} got a proof that is wrong: ${error}`)
    }
  }
}

/** Events are sealed seconds after they come, and the follower of a silent subscription takes half a minute more. */
const SEALED_WITHIN_MS = 90_000

/** Everything is sealed, and an auditor finds no fault in the log, which holds the seals that clients kept. */
export const expectSeals = async ({ log, timeline, keptSeals, violation }: World) => {
  await timeline.pass(SEALED_WITHIN_MS)
  const kept = [...keptSeals].map(([number, name]) => ({ number, name }))
  const verification = await verifyLog(log, { isDense: true, kept })
  for (const { stream, revision, what } of verification?.faults ?? [])
    violation(`an auditor finds at ${stream} ${revision}: ${what}`)
  if (verification?.unsealed !== 0) violation(`${verification?.unsealed} events are not sealed`)
}
