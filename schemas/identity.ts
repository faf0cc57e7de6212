import { type Static, Type } from 'typebox'
import { Closed, Tagged } from './primitives.ts'

/** Characters of the name that a messenger shows for a person. It is only for people, and may change. */
export const MAX_IDENTITY_NAME_LENGTH = 64

/** An e-mail address in lower case. */
export const EmailIdentity = Closed({
  kind: Type.Literal('email'),
  address: Type.String({ minLength: 3, maxLength: 254 }),
})

/** A Telegram account. `subject` is its number, which never changes. */
export const TelegramIdentity = Closed({
  kind: Type.Literal('telegram'),
  subject: Type.String({ pattern: '^[!-~]{1,255}$' }),
  name: Type.Optional(Type.String({ pattern: `^[^\\p{C}\\p{Zl}\\p{Zp}]{1,${MAX_IDENTITY_NAME_LENGTH}}$` })),
})

/** What proves who somebody is: whoever controls it may use the account that it is linked to. */
export const Identity = Tagged('kind', EmailIdentity, TelegramIdentity)
export type Identity = Static<typeof Identity>
export type EmailIdentity = Static<typeof EmailIdentity>
export type TelegramIdentity = Static<typeof TelegramIdentity>
