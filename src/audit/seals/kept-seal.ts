/** A seal as people keep it. */
export interface KeptSeal {
  number: number
  /** Its name or, from before seals had names, its number and link, such as `12:6cdf…`. */
  name: string
}

/** Whether a name is an old one. No signature covers a link, so that an old name may be forged. */
export const isOldName = (name: string): boolean => !name.includes(':sha256-')

/** Whether a seal has a name, which may be an old one. */
export const hasName = (seal: KeptSeal & { link: string }, name: string): boolean =>
  name === seal.name || name === `${seal.number}:${seal.link}`
