/** The longest name in DNS (RFC 1035, section 2.3.4). The host of a webhook also names its delivery queue. */
export const MAX_HOST_LENGTH = 253

export type HttpUrlFault = 'not_http' | 'host_invalid' | 'credentials' | 'host_too_long'

/** Why no request can go to a URL; undefined if one can. Only a request shows whether a server answers there. */
export const httpUrlFault = (text: string): HttpUrlFault | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // Every text with one of these schemes is a URL unless its host or port is malformed.
  if (url ? url.port === '0' : isHttp(text)) return 'host_invalid'
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'not_http'
  if (url.username || url.password) return 'credentials'
  return url.hostname.length > MAX_HOST_LENGTH ? 'host_too_long' : undefined
}

/** Whether a text has the scheme of an HTTP URL, well-formed or not. */
export const isHttp = (text: string) => /^\s*https?:/i.test(text)

/** The length that most servers accept. */
export const MAX_URL_LENGTH = 2048

export type WebhookUrlFault = HttpUrlFault | 'too_long'

/** Why a URL cannot receive webhooks; undefined if it can. */
export const webhookUrlFault = (text: string): WebhookUrlFault | undefined =>
  httpUrlFault(text) ?? (text.length > MAX_URL_LENGTH ? 'too_long' : undefined)
