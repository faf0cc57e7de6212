import type { Identity } from '../../../schemas/identity.ts'
import type { Caller, SessionOwner } from '../caller.ts'

/** The people who operate the service. They sign in with addresses that the configuration lists. */
export class Operators {
  readonly #addresses: ReadonlySet<string>

  /** The addresses are in the form of identities. */
  constructor(addresses: readonly string[]) {
    this.#addresses = new Set(addresses)
  }

  /** The address of an operator among the identities of an account, each of which was proved; undefined for others. */
  addressOf(identities: readonly Identity[]): string | undefined {
    const found = identities.find(each => each.kind === 'email' && this.#addresses.has(each.address))
    return found?.kind === 'email' ? found.address : undefined
  }

  /** The operator that a signed-in person is, whose name the log records; undefined for others. */
  callerOf({ requestId }: SessionOwner, identities: readonly Identity[]): Operator | undefined {
    const name = this.addressOf(identities)
    return name === undefined ? undefined : { kind: 'operator', name, requestId }
  }
}

/** An operator who has signed in. */
export type Operator = Extract<Caller, { kind: 'operator' }> & { accountId?: never }
