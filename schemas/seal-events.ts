import { type Static, Type } from 'typebox'
import { Closed, Count, type EventUnion, Sha256, Timestamp } from './primitives.ts'

/** An Ed25519 public key, as a JSON Web Key (RFC 8037). */
export const SealPublicKey = Closed({
  kty: Type.Literal('OKP'),
  crv: Type.Literal('Ed25519'),
  x: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
})
export type SealPublicKey = Static<typeof SealPublicKey>

/** The thumbprint of a public key (RFC 7638), in base64url. */
const SealKeyId = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

/** An Ed25519 signature of the canonical JSON of the other fields, in base64url. */
const Signature = Type.String({ pattern: '^[A-Za-z0-9_-]{86}$' })

/** From here on, seals are signed with this key. The previous key signed this event; the first key signed its own. */
export const SealKeyAdopted = Closed({
  key: SealPublicKey,
  keyId: SealKeyId,
  /** The key was made on the machine of the service, so it proves little. */
  development: Type.Optional(Type.Literal(true)),
  signature: Signature,
})
export type SealKeyAdopted = Static<typeof SealKeyAdopted>

/** A commitment to the first `events` events of the log, without the stream of seals. */
export const LogSealed = Closed({
  /** The revision of this event. */
  number: Count,
  events: Count,
  streams: Count,
  /** The position of the last covered event. It differs in a copy of the log. */
  position: Count,
  /** The root of the tree over all streams. */
  root: Sha256,
  /** The root of the tree over the links of all earlier events in this stream. */
  earlier: Sha256,
  /** The link of the previous event. */
  previous: Sha256,
  at: Timestamp,
  keyId: SealKeyId,
  signature: Signature,
})
export type LogSealed = Static<typeof LogSealed>

/** All events of the stream of seals, by type. */
export const sealEvents = { SealKeyAdopted, LogSealed }
export type SealEvent = EventUnion<typeof sealEvents>
