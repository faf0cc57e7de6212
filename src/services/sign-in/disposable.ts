import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'

/** About 5,000 domains, by people who take addresses for minutes. */
const domains = disposableEmailBlocklistSet()

/** Whether anybody can have an address of the domain for some minutes, or of one above it. */
export const isDisposable = (domain: string): boolean => {
  const labels = domain.split('.')
  return labels.some((_, index) => domains.has(labels.slice(index).join('.')))
}
