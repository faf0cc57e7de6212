import { CODE_MS } from '../../../services/sign-in/one-time-codes.ts'
import type { CodeEntry, RequestedCode } from '../../../services/sign-in/sign-in.ts'
import { ApiError } from '../../../transports/api-error.ts'
import type { Context } from '../../context.ts'
import type { Cookies } from '../../sessions/cookies.ts'

/** A code was entered in a browser without one: it has requested none, or refuses cookies. */
export const noCodeRequested = () =>
  new ApiError('invalid_request', 'This browser has requested no code in the last ten minutes. Request one first.')

/** The codes that only this browser may enter: the last code that it requested, and the code before. */
export type PendingCodes = Pick<CodeEntry, 'email' | 'codeId' | 'earlier'>

/**
 * Remembers the last two codes that a browser has requested. The cookie is no secret to its owner, and is not trusted.
 */
export class PendingCode {
  readonly #cookies: Cookies
  readonly #name: string

  constructor(cookies: Cookies, name: string) {
    this.#cookies = cookies
    this.#name = name
  }

  read(ctx: Context): PendingCodes | undefined {
    const [codeId, email, earlierId, earlierEmail] = this.#cookies.read(ctx, this.#name)?.split('.') ?? []
    const last = decode(codeId, email)
    return last && { ...last, earlier: decode(earlierId, earlierEmail) }
  }

  write(ctx: Context, requested: RequestedCode) {
    const earlier = this.read(ctx)
    const value = [requested, ...(earlier ? [earlier] : [])].map(encode).join('.')
    this.#cookies.write(ctx, this.#name, value, CODE_MS)
  }

  remove(ctx: Context) {
    this.#cookies.remove(ctx, this.#name)
  }
}

const encode = ({ email, codeId }: RequestedCode) => `${codeId}.${Buffer.from(email).toString('base64url')}`

const decode = (codeId = '', encoded = ''): RequestedCode | undefined => {
  const email = Buffer.from(encoded, 'base64url').toString()
  return codeId && email ? { codeId, email } : undefined
}
