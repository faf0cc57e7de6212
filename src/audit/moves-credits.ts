/** By type of event, whether it adds credits to an account or takes them from it. */
export const SIGNS: Readonly<Record<string, 1 | -1>> = {
  CreditsGranted: 1,
  CreditsWithdrawn: -1,
  CreditsDebited: -1,
  CreditsRefunded: 1,
}

/** Whether events of a type change a balance. */
export const movesCredits = (type: string): boolean => Object.hasOwn(SIGNS, type)
