import type { ProviderCostRecorded } from '../../../schemas/account-events.ts'
import type { Actor } from '../../../schemas/actor.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { KeyRing } from '../../audit/account/key-ring.ts'
import { totalOf } from '../../audit/books.ts'
import type { Fault } from '../../audit/fault.ts'
import type { Split } from '../../audit/lots.ts'
import type { NewestSeal } from '../../audit/verify/seals.ts'
import { fromMicros } from '../../domain/money.ts'

const NOTHING: Split = { freeMicros: 0, paidMicros: 0 }

export const sealToJson = (seal: NewestSeal | undefined) =>
  seal ? { seal: seal.name, events: seal.events, at: seal.at } : null

/** The total of an amount, and its free and paid parts. */
export const creditsToJson = (name: string, split = NOTHING) => ({
  [name]: fromMicros(totalOf(split)),
  [`${name}_free`]: fromMicros(split.freeMicros),
  [`${name}_paid`]: fromMicros(split.paidMicros),
})

/** The charge of a provider for a run. `amount` and `currency` are null if the charge is unknown. */
export const costToJson = ({ provider, model, account, version, units, ...cost }: ProviderCostRecorded) => ({
  ...{ provider, model, account: account ?? null, version: version ?? null, units: units ?? {} },
  amount: cost.amountMicros === undefined ? null : fromMicros(cost.amountMicros),
  currency: cost.currency ?? null,
  source: cost.source,
})

interface Named {
  type: string
  data: unknown
}

/** The place of an event in the log, its time, and its link to the previous events. */
export const eventToJson = ({ revision, position, id, type, metadata: { at, clock, hash } }: Recorded<Named>) => ({
  ...{ revision, position, event_id: id, type, at },
  clock: clock ?? null,
  hash,
})

export const faultToJson = ({ revision, position, eventId, what }: Fault) => ({
  revision: revision ?? null,
  position: position ?? null,
  event_id: eventId ?? null,
  fault: what,
})

export const actorToJson = (actor: Actor, keys: KeyRing) => {
  const { keyId, sessionId, name } = actor as { keyId?: string; sessionId?: string; name?: string }
  return {
    kind: actor.kind,
    name: (keyId === undefined ? name : keys.find(keyId)?.name) ?? null,
    ...(keyId !== undefined && { key_id: keyId }),
    ...(sessionId !== undefined && { session_id: sessionId }),
  }
}
