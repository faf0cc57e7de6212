import type { EmailIdentity, Identity, TelegramIdentity } from '../../../schemas/identity.ts'
import { sha256 } from '../digest.ts'

/** The longest address that SMTP can carry (RFC 5321, erratum 1690). */
const MAX_ADDRESS_LENGTH = 254

/** The identity of an e-mail address, whose case and surrounding blanks do not matter; undefined if it is none. */
export const emailIdentity = (text: string): EmailIdentity | undefined => {
  const address = text.trim().toLowerCase()
  const isAddress = /^[^\s\p{C}@]+@[^\s\p{C}@]+$/u.test(address) && address.length <= MAX_ADDRESS_LENGTH
  return isAddress ? { kind: 'email', address } : undefined
}

/** The identity that an account was opened with. */
export const openingIdentity = ({ email = '', identity }: OpenedWith): Identity =>
  identity ?? { kind: 'email', address: email.toLowerCase() }

interface OpenedWith {
  email?: string
  identity?: TelegramIdentity
}

/** The owner of an account, as people read it. */
export const ownerName = (opening: OpenedWith): string => opening.email ?? identityName(openingIdentity(opening))

/** The identity as people read it. */
export const identityName = (identity: Identity): string =>
  identity.kind === 'email' ? identity.address : `Telegram: ${identity.name ?? identity.subject}`

/** The hash in the name of the identity's stream. */
export const loginOf = (identity: Identity): string => sha256(textOf(identity))

/** Whether both are the same person's same address or account. What a messenger shows as its name does not matter. */
export const isSameIdentity = (one: Identity, other: Identity): boolean => textOf(one) === textOf(other)

const textOf = (identity: Identity): string =>
  identity.kind === 'email' ? `email:${identity.address}` : `telegram:${identity.subject}`
