import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'

/** About 9,000 domains. They are read at the first use, since few processes need them. */
let domains: Set<string> | undefined

/** Whether anybody can have an address of the domain for some minutes, or of one above it. */
export const isDisposable = (domain: string): boolean => {
  domains ??= disposableEmailBlocklistSet()
  const labels = domain.split('.')
  return labels.some((_, index) => domains?.has(labels.slice(index).join('.')))
}
