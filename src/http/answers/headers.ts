import { IDEMPOTENCY_KEY, MAX_WAIT_SECONDS, POSITION } from '../../../schemas/primitives.ts'
import type { Position } from '../../../schemas/recorded.ts'
import { ApiError } from '../../transports/api-error.ts'
import type { Context } from '../context.ts'

/** How long a client wants to wait for the end of a run (RFC 7240). */
export interface WaitPreference {
  /** Clamped to its limit; undefined if the client leaves it to the service. */
  waitMs: number | undefined
  respondsAsync: boolean
}

/**
 * The preferences `wait` and `respond-async`. `respond-async` alone does not wait. The service ignores other
 * preferences, and malformed ones.
 */
export const waitPreference = (ctx: Context): WaitPreference => {
  const given = ctx.get('Prefer').split(/[,;]/)
  const wait = given.flatMap(preference => /^\s*wait\s*=\s*"?(\d+)"?\s*$/i.exec(preference)?.[1] ?? []).at(0)
  const respondsAsync = given.some(preference => /^\s*respond-async\s*$/i.test(preference))
  if (wait === undefined) return { waitMs: respondsAsync ? 0 : undefined, respondsAsync }
  return { waitMs: Math.min(Number(wait), MAX_WAIT_SECONDS) * 1000, respondsAsync }
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

/** The response headers with the limits of requests, and with their current state. */
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
