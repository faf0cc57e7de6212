import { IDEMPOTENCY_KEY, MAX_WAIT_SECONDS, MIN_WAIT_SECONDS, POSITION } from '../../schemas/primitives.ts'
import type { Position } from '../../schemas/recorded.ts'
import { ApiError } from './api-error.ts'
import type { Context } from './context.ts'

/** `Prefer: wait=n` (RFC 7240) in milliseconds, clamped to its bounds; undefined if missing or unreadable. */
export const preferredWaitMs = (ctx: Context): number | undefined => {
  const wait = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=[,;]|$)/i.exec(ctx.get('Prefer'))?.[1]
  if (wait === undefined) return undefined
  return Math.min(Math.max(Number(wait), MIN_WAIT_SECONDS), MAX_WAIT_SECONDS) * 1000
}

/** `Idempotency-Key`, with or without quotes (draft-ietf-httpapi-idempotency-key-header); undefined if missing. */
export const idempotencyKey = (ctx: Context): string | undefined => {
  const header = ctx.headers['idempotency-key']
  if (header === undefined) return undefined
  const key = String(header).replace(/^"(.*)"$/, '$1')
  if (!VISIBLE.test(key)) throw headerFault('Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
  return key
}

/** The response header with the log position of a write. */
export const TOLLGATE_POSITION = 'Tollgate-Position'

/** The response headers with the limits of requests, and with how they stand. */
export const RATE_LIMIT_POLICY = 'RateLimit-Policy'
export const RATE_LIMIT = 'RateLimit'

/** The response header with the newest seal of the log. */
export const TOLLGATE_SEAL = 'Tollgate-Seal'

/** Names the newest seal that this process knows, so that clients keep seals without asking for them. */
export const nameSeal = (ctx: Context, { newest }: { newest: string | undefined }) => {
  if (newest) ctx.set(TOLLGATE_SEAL, newest)
}

/** The position that a client sends back; undefined if missing. */
export const positionGiven = (ctx: Context): Position | undefined => {
  const header = ctx.get(TOLLGATE_POSITION)
  if (header === '') return undefined
  const given = Number(header)
  if (NUMBER.test(header) && Number.isSafeInteger(given)) return given
  throw headerFault(TOLLGATE_POSITION, `must be the ${TOLLGATE_POSITION} of an earlier response`)
}

const VISIBLE = new RegExp(`^${IDEMPOTENCY_KEY}$`)
const NUMBER = new RegExp(`^${POSITION}$`)

const headerFault = (name: string, message: string) =>
  new ApiError('invalid_request', `${name} ${message}.`, { errors: [{ path: `/headers/${name}`, message }] })
