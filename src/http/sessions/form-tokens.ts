import { createHash, timingSafeEqual } from 'node:crypto'
import type { Random } from '../../ports/random.ts'
import { ApiError } from '../../transports/api-error.ts'
import type { Context } from '../context.ts'
import type { Cookies } from './cookies.ts'

/** The cookie that stands for a browser without a session while it fills in a form. */
const FORM = 'form'
const FORM_MS = 24 * 60 * 60 * 1000

/**
 * The tokens of forms. A token is derived from the session's cookie, or else from a cookie for forms alone. Another
 * site can neither read nor set these cookies, so it knows no token.
 */
export class FormTokens {
  readonly #cookies: Cookies
  readonly #random: Random

  constructor(cookies: Cookies, random: Random) {
    this.#cookies = cookies
    this.#random = random
  }

  /** The token for the forms of a page. Sets the cookie if the browser has none. */
  tokenFor(ctx: Context, session: string | undefined): string {
    const known = session ?? this.#cookies.read(ctx, FORM)
    if (known !== undefined) return derived(known)
    const fresh = this.#random.hex(16)
    this.#cookies.write(ctx, FORM, fresh, FORM_MS)
    return derived(fresh)
  }

  /** Throws forbidden unless a form has the token of one of the browser's cookies. */
  check(ctx: Context, session: string | undefined, token: string) {
    const isOwn = [session, this.#cookies.read(ctx, FORM)].some(
      secret => secret !== undefined && isEqual(derived(secret), token),
    )
    if (!isOwn) throw new ApiError('forbidden', 'This form is no longer valid. Go back, reload the page and try again.')
  }
}

const derived = (secret: string): string => createHash('sha256').update(`form ${secret}`).digest('base64url')

const isEqual = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
