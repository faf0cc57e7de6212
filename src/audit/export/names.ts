import { AccountId } from '../../../schemas/primitives.ts'
import { compileGuard } from '../../engine/log/codec.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Lot } from '../lots.ts'

/** The commodity of customers' credits. Providers charge in currencies. */
export const CREDIT = 'CREDIT'

/** Account names for the books. Both hledger and beancount accept them. */
export class Names {
  readonly #revenues = new Map<string, string>()
  readonly #taken = new Set<string>()

  /**
   * The revenue account of a family: `Income:Usage:NanoBanana2` for `nano-banana-2`. If two families would share a
   * name, the second gets a number.
   */
  revenueOf(family: string): string {
    const known = this.#revenues.get(family)
    if (known) return known
    const name = this.#free(`Income:Usage:${camelCase(family)}`)
    this.#taken.add(name)
    this.#revenues.set(family, name)
    return name
  }

  /** The last part of the names of a provider's accounts, such as `ElevenLabs` for `eleven-labs`. */
  providerOf(provider: string): string {
    return camelCase(provider)
  }

  #free(name: string): string {
    if (!this.#taken.has(name)) return name
    let number = 2
    while (this.#taken.has(`${name}-No${number}`)) number += 1
    return `${name}-No${number}`
  }
}

/** A customer's part of account names, such as `Acct-01m…`. */
export const customerOf = (account: string): string => {
  if (!isAccountId(account)) throw new Damaged(`${JSON.stringify(account)} is not an account ID`)
  return `Acct-${account.slice('acct_'.length)}`
}

/** A lot of a customer, such as `Paid:Acct-01m…:Lot2`. */
export const lotName = (account: string, { isPaid, number }: Pick<Lot, 'isPaid' | 'number'>): string =>
  `${isPaid ? 'Paid' : 'Free'}:${customerOf(account)}:Lot${number}`

/** The liability for the credits that are left of a lot. */
export const liabilityOf = (lot: string): string => `Liabilities:Credits:${lot}`

export const grantsOf = (kind: string): string => `Equity:Grants:${capitalized(kind)}`

const isAccountId = compileGuard(AccountId)

/** Keeps a hyphen between digits: version 1-5 must not become 15. */
const camelCase = (slug: string): string =>
  capitalized(slug).replaceAll(/(?<!\d)-(\d)|-([a-z])/g, (_, digit, letter) => digit ?? letter.toUpperCase())

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
