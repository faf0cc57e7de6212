import { type Static, Type } from 'typebox'
import { Line } from './names.ts'
import { Closed, Tagged } from './primitives.ts'

/** The longest stored name of a messenger account. The name is only for people, and may change. */
export const MAX_IDENTITY_NAME_LENGTH = 64

/** An e-mail address, in lower case and NFC, with its domain in ASCII. */
export const EmailIdentity = Closed({
  kind: Type.Literal('email'),
  address: Type.String({ minLength: 3, maxLength: 254 }),
})

/** A Telegram account. `subject` is its number, which never changes. */
export const TelegramIdentity = Closed({
  kind: Type.Literal('telegram'),
  subject: Type.String({ pattern: '^[!-~]{1,255}$' }),
  name: Type.Optional(Line(MAX_IDENTITY_NAME_LENGTH)),
})

/** An e-mail address or a messenger account. Its owner may use the account to which it is linked. */
export const Identity = Tagged('kind', EmailIdentity, TelegramIdentity)
export type Identity = Static<typeof Identity>
export type EmailIdentity = Static<typeof EmailIdentity>
export type TelegramIdentity = Static<typeof TelegramIdentity>
