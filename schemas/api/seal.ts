import { type Static, Type } from 'typebox'
import { Closed, Sha256 } from '../primitives.ts'
import { LogSealed, SealPublicKey } from '../seal-events.ts'
import { about } from './about.ts'

const SealNumber = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const SealName = about(
  Type.String({ pattern: '^[0-9]+:sha256-[0-9a-f]{64}$' }),
  'The name of the seal: its number, and the SHA-256 of the text that its signature covers. Keep the name.',
  '13:sha256-314549302776e7520f4694a6cd9dd642ccf476529768041c8d5a777279ffdc65',
)

/** A commitment to the whole log. */
export const Seal = Closed({
  object: Type.Literal('seal'),
  number: about(SealNumber, 'The number of the seal. The numbers of seals have gaps.', 13),
  name: SealName,
  link: about(
    Sha256,
    'The link of the seal, which covers the whole seal and all earlier seals. The signature does not cover the link.',
    '75bade1d404ad40e9de2e81758e38a49e78bad034c476b9be573306170336c66',
  ),
  data: about(
    LogSealed,
    'The seal as recorded in the log. The signature covers the canonical JSON of the other fields.',
  ),
})
export type Seal = Static<typeof Seal>

export const SealQuery = Closed({
  number: Type.Optional(about(SealNumber, 'The number of an earlier seal. Omit it for the newest one.', 12)),
})

const { kty, crv, x } = SealPublicKey.properties

/** A JSON Web Key Set (RFC 7517) of Ed25519 keys (RFC 8037). Readers ignore members that they do not know. */
export const SealKeySet = Closed({
  keys: about(
    Type.Array(
      Closed({
        ...{ kty, crv, x },
        kid: about(Type.String(), 'The `keyId` of seals: the thumbprint of the key (RFC 7638).'),
        use: Type.Literal('sig'),
        development: Type.Optional(
          about(
            Type.Literal(true),
            'The service made the key and keeps it beside the log, so seals with this key prove little.',
          ),
        ),
      }),
    ),
    'The keys in the order of their first use. The last key may not be the current key.',
  ),
})
export type SealKeySet = Static<typeof SealKeySet>
