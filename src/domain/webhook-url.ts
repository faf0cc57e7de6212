import { type HttpUrlFault, httpUrlFault } from './http-url.ts'

/** The length that most servers accept. */
export const MAX_URL_LENGTH = 2048

export type WebhookUrlFault = HttpUrlFault | 'too_long'

/** Why a URL cannot receive webhooks; undefined if it can. */
export const webhookUrlFault = (text: string): WebhookUrlFault | undefined =>
  httpUrlFault(text) ?? (text.length > MAX_URL_LENGTH ? 'too_long' : undefined)
