import { NOTHING, outcomeOf } from './outcome.ts'
import type { Running } from './process.ts'
import type { World } from './world.ts'

/** So few that different clients often register one of them at once. Two of them are one mailbox. */
const ADDRESSES = ['ada@example.org', 'ada+news@example.org', 'alan@example.org', 'grace@example.org']

/** A code that nobody gets. */
const GUESS = 'ZZZZ-ZZZZ'

const service = { kind: 'service' } as const

/** What people without a key do: they register, sign in, and look at their account. */
export class Visitors {
  readonly #world: World
  /** The codes that were requested here, which others cannot enter. */
  readonly #requests: { email: string; codeId: string }[] = []
  readonly #tokens: string[] = []

  constructor(world: World) {
    this.#world = world
  }

  async requestCode({ services }: Running): Promise<string> {
    const email = this.#world.chance.pick(ADDRESSES)
    const told = await services.signIn.requestCode(service, { email, network: email })
    if ('value' in told) this.#requests.push({ email, ...told.value })
    return outcomeOf(told)
  }

  /** Enters one of the codes that arrived, not always the right one. */
  async enterCode({ services }: Running): Promise<string> {
    const { chance, mail, truth } = this.#world
    const request = this.#requests.at(-1)
    if (!request) return NOTHING
    const { email, codeId } = request
    const code = chance.pick([...(mail.get(email) ?? []).slice(-2), GUESS])
    const earlierToken = this.#tokens.at(-1)
    const told = await services.signIn.enterCode(service, { email, network: email, codeId, code, earlierToken })
    if ('value' in told) {
      truth.expectOwner(email, told.value.accountId)
      this.#tokens.push(told.value.token)
    }
    return outcomeOf(told)
  }

  /** Asks for the balance with the newest session. Another client may have signed out everywhere since. */
  async visit({ services, sessionHolders }: Running): Promise<string> {
    const token = this.#tokens.at(-1)
    const owner = token === undefined ? undefined : await sessionHolders.ownerOf(token)
    if (!owner) return NOTHING
    if ('refuse' in owner) return outcomeOf(owner)
    const told = await services.accounts.balance(owner.value)
    if ('value' in told) this.#world.truth.expectBalance(owner.value.accountId, -1, told.value.balanceMicros)
    return outcomeOf(told)
  }

  async signOutEverywhere({ services, sessionHolders }: Running): Promise<string> {
    const token = this.#tokens.at(-1)
    const owner = token === undefined ? undefined : await sessionHolders.ownerOf(token)
    if (!owner || 'refuse' in owner) return NOTHING
    return outcomeOf(await services.sessions.closeAll(owner.value))
  }
}
