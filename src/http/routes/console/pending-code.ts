import { CODE_MS } from '../../../services/sign-in/one-time-codes.ts'
import { ApiError } from '../../api-error.ts'
import type { Context } from '../../context.ts'
import type { Cookies } from '../../cookies.ts'

/** A code that was requested in this browser, which is the only one that may enter it. */
export interface RequestedCode {
  email: string
  codeId: string
}

/** A code was entered in a browser without one: it has requested none, or refuses cookies. */
export const noCodeRequested = () =>
  new ApiError('invalid_request', 'This browser has requested no code in the last ten minutes. Request one first.')

/** Remembers the last code that a browser has requested. The cookie is no secret to its owner, and is not trusted. */
export class PendingCode {
  readonly #cookies: Cookies
  readonly #name: string

  constructor(cookies: Cookies, name: string) {
    this.#cookies = cookies
    this.#name = name
  }

  read(ctx: Context): RequestedCode | undefined {
    const [codeId = '', encoded = ''] = this.#cookies.read(ctx, this.#name)?.split('.') ?? []
    const email = Buffer.from(encoded, 'base64url').toString()
    return codeId && email ? { codeId, email } : undefined
  }

  write(ctx: Context, { email, codeId }: RequestedCode) {
    this.#cookies.write(ctx, this.#name, `${codeId}.${Buffer.from(email).toString('base64url')}`, CODE_MS)
  }

  remove(ctx: Context) {
    this.#cookies.remove(ctx, this.#name)
  }
}
