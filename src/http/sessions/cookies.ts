import type { Context } from '../context.ts'

/** Browsers remove expired cookies. Some clients read the first moment of 1970 as no expiry. */
const LONG_AGO = new Date(1000)

/** Cookies of this service alone: no script reads them, and no other site sends them with a form. */
export class Cookies {
  readonly #publicUrl: () => string

  constructor(publicUrl: () => string) {
    this.#publicUrl = publicUrl
  }

  read(ctx: Context, name: string): string | undefined {
    return ctx.cookies.get(this.#nameOf(name))
  }

  write(ctx: Context, name: string, value: string, maxAgeMs: number) {
    this.#set(ctx, name, value, maxAgeMs)
  }

  remove(ctx: Context, name: string) {
    this.#set(ctx, name, '', -1)
  }

  #set(ctx: Context, name: string, value: string, maxAge: number) {
    const secure = this.#isSecure
    // A proxy may end TLS, so the connection does not show whether the client uses HTTPS.
    ctx.cookies.secure = secure
    const options = { httpOnly: true, sameSite: 'lax', secure, path: '/', overwrite: true } as const
    ctx.cookies.set(this.#nameOf(name), value, { ...options, ...(maxAge < 0 ? { expires: LONG_AGO } : { maxAge }) })
  }

  /** With this prefix, browsers let no other host of the domain set the cookie (RFC 6265bis, section 4.1.3.2). */
  #nameOf(name: string): string {
    return `${this.#isSecure ? '__Host-' : ''}tollgate-${name}`
  }

  get #isSecure(): boolean {
    return this.#publicUrl().startsWith('https:')
  }
}
