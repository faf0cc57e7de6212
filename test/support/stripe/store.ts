import type { Stripe } from 'stripe'
import { invalid, missing } from './errors.ts'

/** The objects of the stub, by the name that errors give them. */
export interface Objects {
  'checkout.session': Stripe.Checkout.Session
  payment_intent: Stripe.PaymentIntent
  charge: Stripe.Charge
  balance_transaction: Stripe.BalanceTransaction
  refund: Stripe.Refund
  dispute: Stripe.Dispute
  customer: Stripe.Customer
  payment_method: Stripe.PaymentMethod
  invoice: Stripe.Invoice
}

export type Kind = keyof Objects

/** The prefixes of ids, as in the examples of https://docs.stripe.com/api */
const PREFIXES: Record<Kind, string> = {
  'checkout.session': 'cs_test_',
  payment_intent: 'pi_',
  charge: 'ch_',
  balance_transaction: 'txn_',
  refund: 're_',
  dispute: 'du_',
  customer: 'cus_',
  payment_method: 'pm_',
  invoice: 'in_',
}

/** All objects of an account at Stripe. They refer to each other by id. */
export class Store {
  readonly isLive: boolean
  readonly #objects = new Map<string, Objects[Kind]>()
  #count = 0

  constructor(isLive: boolean) {
    this.isLive = isLive
  }

  /** A new id, longer than those of tests that count. */
  id(prefix: string): string {
    return `${prefix}1Stub${String(++this.#count).padStart(20, '0')}`
  }

  idOf(kind: Kind): string {
    const prefix = PREFIXES[kind]
    return this.id(this.isLive ? prefix.replace('test', 'live') : prefix)
  }

  now(): number {
    return Math.floor(Date.now() / 1000)
  }

  add<Name extends Kind>(object: Objects[Name] & { object: Name }): Objects[Name] {
    this.#objects.set(object.id, object)
    return object
  }

  /** Throws Stripe's 404 for an unknown object. */
  get<Name extends Kind>(kind: Name, id: string, param?: string): Objects[Name] {
    const object = this.#objects.get(id)
    if (object?.object !== kind) throw missing(kind.replace('.', ' '), id, param)
    return object as Objects[Name]
  }

  all<Name extends Kind>(kind: Name): Objects[Name][] {
    return [...this.#objects.values()].filter(({ object }) => object === kind) as Objects[Name][]
  }

  /** A copy with whole objects in place of ids: https://docs.stripe.com/api/expanding_objects */
  expanded<Whole extends object>(object: Whole, paths: readonly string[]): Whole {
    const copy = structuredClone(object)
    for (const path of paths) this.#expand(copy as Record<string, unknown>, path.split('.'), path)
    return copy
  }

  #expand(object: Record<string, unknown>, [field = '', ...rest]: string[], path: string) {
    if (!(field in object)) throw invalid(`This property cannot be expanded (${path}).`, { param: 'expand' })
    const value = object[field]
    if (Array.isArray(value)) {
      for (const each of value) this.#expand(each, rest, path)
      return
    }
    const whole = typeof value === 'string' ? structuredClone(this.#objects.get(value)) : value
    if (!whole) return
    object[field] = whole
    if (rest.length > 0) this.#expand(whole as Record<string, unknown>, rest, path)
  }
}

/** Fields that the stub never fills. */
export const nulls = <Name extends string>(...names: Name[]): Record<Name, null> =>
  Object.fromEntries(names.map(name => [name, null])) as Record<Name, null>
