/** The longest name in DNS (RFC 1035, section 2.3.4). The host also names the delivery queue. */
export const MAX_HOST_LENGTH = 253

/** The length that most servers accept. */
export const MAX_URL_LENGTH = 2048

export type WebhookUrlFault = 'not_http' | 'credentials' | 'too_long' | 'host_too_long'

/** Why a URL cannot receive webhooks; undefined if it can. Only delivery shows whether a server answers there. */
export const webhookUrlFault = (text: string): WebhookUrlFault | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'not_http'
  if (url.username || url.password) return 'credentials'
  if (text.length > MAX_URL_LENGTH) return 'too_long'
  if (url.hostname.length > MAX_HOST_LENGTH) return 'host_too_long'
  return undefined
}
