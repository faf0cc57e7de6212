/** A seal as people keep it. */
export interface KeptSeal {
  number: number
  /** Its name or, from before seals had names, its number and link, such as `12:6cdf…`. */
  name: string
  /** Of a whole seal in a file: the key that has signed it, if the log adopted that key, and the seal's place. */
  signer?: { keyId: string; isAdopted: boolean; place: string }
}

/** Whether a name is an old one. No signature covers a link, so that an old name may be forged. */
export const isOldName = (name: string): boolean => !name.includes(':sha256-')

/** Whether anybody could have made the seal, for all that the log shows. */
export const isForgeable = ({ name, signer }: KeptSeal): boolean => isOldName(name) || signer?.isAdopted === false

/** Whether a seal has a name, which may be an old one. */
export const hasName = (seal: KeptSeal & { link: string }, name: string): boolean =>
  name === seal.name || name === `${seal.number}:${seal.link}`
