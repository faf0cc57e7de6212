/** What DNS can hold (RFC 1035, section 2.3.4). The host also names the queue in which deliveries wait. */
const MAX_HOST_LENGTH = 253

/** What servers take of an address as a rule. */
export const MAX_URL_LENGTH = 2048

/** Why nobody can be told at an address; undefined where they can. Whether anybody is there shows when it is tried. */
export const webhookUrlFault = (text: string): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'must be an http or https URL'
  if (url.username || url.password) return 'must not hold a user name or a password, since it is recorded'
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`
  if (url.hostname.length > MAX_HOST_LENGTH) return `must have a host name of at most ${MAX_HOST_LENGTH} characters`
  return undefined
}
