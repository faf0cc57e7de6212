import { MAX_HOST_LENGTH, MAX_URL_LENGTH, type WebhookUrlFault } from '../../domain/http-url.ts'
import { plural } from '../../domain/plural.ts'

/** A duration as text, rounded up so that clients do not retry too early. */
export const duration = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000)
  if (seconds <= 90) return plural(seconds, 'second')
  const minutes = Math.ceil(ms / 60_000)
  return minutes <= 90 ? plural(minutes, 'minute') : plural(Math.ceil(minutes / 60), 'hour')
}

/** Whose limit it is. */
export const limited = { key: 'This API key', account: 'The account' } as const

/** Why a URL cannot be requested, or cannot receive webhooks. */
export const urlFaults: Record<WebhookUrlFault, string> = {
  not_http: 'must be an http or https URL',
  host_invalid: 'has no valid host or port',
  credentials: 'must not contain a user name or password, because it is recorded',
  too_long: `must be at most ${MAX_URL_LENGTH} characters long`,
  host_too_long: `must have a host name of at most ${MAX_HOST_LENGTH} characters`,
}
