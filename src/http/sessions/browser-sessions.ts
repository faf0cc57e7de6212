import type { Next } from 'koa'
import type { Random } from '../../ports/random.ts'
import type { SessionOwner } from '../../services/caller.ts'
import { KNOWN_MS } from '../../services/sign-in/browser-tokens.ts'
import { type OpenedSession, SESSION_MS, type SessionHolders } from '../../services/sign-in/sessions.ts'
import { ApiError } from '../../transports/api-error.ts'
import { unwrap } from '../../transports/refusals.ts'
import type { Context, Middleware } from '../context.ts'
import { Cookies } from './cookies.ts'
import { FormTokens } from './form-tokens.ts'

const SESSION = 'session'

/** The cookie that identifies a browser that has signed in before. It outlasts the session. */
const BROWSER = 'browser'

/** The cookie of a browser in test mode. It is no secret, and gives no access. */
const MODE = 'mode'
const TEST = 'test'

interface Dependencies {
  sessionHolders: Pick<SessionHolders, 'ownerOf' | 'ownerToSignOut'>
  authenticateKey: Middleware
  random: Random
  publicUrl: () => string
}

/** The sessions of browsers. */
export class BrowserSessions {
  readonly cookies: Cookies
  readonly #formTokens: FormTokens
  readonly #dependencies: Dependencies
  /** Sets the caller from the request's key. */
  readonly authenticateKey: Middleware

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.cookies = new Cookies(dependencies.publicUrl)
    this.#formTokens = new FormTokens(this.cookies, dependencies.random)
    this.authenticateKey = dependencies.authenticateKey
  }

  /**
   * The owner of the request's session; undefined if it has none that is open. All pages and routes use this method,
   * so that none can forget to refuse forms of other sites.
   */
  async ownerOf(ctx: Context): Promise<SessionOwner | undefined> {
    const token = this.cookies.read(ctx, SESSION)
    const found = token === undefined ? undefined : await this.#dependencies.sessionHolders.ownerOf(token)
    if (!found) return undefined
    // Without the cookie, the browser can sign in to another account.
    if ('refuse' in found) this.end(ctx)
    const owner = unwrap(found)
    this.refuseOtherSites(ctx)
    const mode = this.cookies.read(ctx, MODE) === TEST ? { livemode: false as const } : {}
    const { requestId, record } = ctx.state
    return { ...owner, ...mode, requestId, record }
  }

  /** Works in test mode from the next request on, or in live mode again. */
  setMode(ctx: Context, isTest: boolean) {
    if (isTest) this.cookies.write(ctx, MODE, TEST, SESSION_MS)
    else this.cookies.remove(ctx, MODE)
  }

  /** Whether to show pages as for a signed-in owner. Never fails, and never ends a session. */
  async isSignedIn(ctx: Context): Promise<boolean> {
    const token = this.tokenOf(ctx)
    const found = token === undefined ? undefined : this.#dependencies.sessionHolders.ownerOf(token)
    const owner = await found?.catch(() => undefined)
    return owner !== undefined && !('refuse' in owner)
  }

  /** The owner of the request's open session, even if the account is suspended. */
  async ownerToSignOut(ctx: Context): Promise<SessionOwner | undefined> {
    this.refuseOtherSites(ctx)
    const token = this.tokenOf(ctx)
    const owner = token === undefined ? undefined : await this.#dependencies.sessionHolders.ownerToSignOut(token)
    return owner && { ...owner, requestId: ctx.state.requestId }
  }

  /** The token of the request, whether its session is open or not. */
  tokenOf(ctx: Context): string | undefined {
    return this.cookies.read(ctx, SESSION)
  }

  /** The token for the forms of a page. */
  formToken(ctx: Context): string {
    return this.#formTokens.tokenFor(ctx, this.tokenOf(ctx))
  }

  /** Throws forbidden unless a form comes from a page of this service. */
  checkForm(ctx: Context, token: string) {
    this.#formTokens.check(ctx, this.tokenOf(ctx), token)
  }

  /** The token that identifies the browser of the request. */
  browserOf(ctx: Context): string | undefined {
    return this.cookies.read(ctx, BROWSER)
  }

  begin(ctx: Context, { token, browser }: OpenedSession) {
    this.cookies.write(ctx, SESSION, token, SESSION_MS)
    this.cookies.write(ctx, BROWSER, browser, KNOWN_MS)
  }

  end(ctx: Context) {
    this.cookies.remove(ctx, SESSION)
    this.cookies.remove(ctx, MODE)
  }

  /** Sets the caller from the request's key or else from its session. For routes that owners use too. */
  readonly authenticate = async (ctx: Context, next: Next) => {
    const owner = ctx.get('Authorization') === '' ? await this.ownerOf(ctx) : undefined
    if (!owner) return this.authenticateKey(ctx, next)
    if (ctx.is('urlencoded', 'text/plain')) throw sentByForm()
    ctx.state.caller = owner
    return next()
  }

  /**
   * Refuses requests that change something and that a page of another site makes a browser send. Browsers say where a
   * request comes from in `Sec-Fetch-Site`, or over plain HTTP in `Origin`; a client that sends neither is no browser,
   * so no page can make it send a cookie.
   */
  refuseOtherSites({ method, headers }: Context) {
    if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return
    const { 'sec-fetch-site': site, origin } = headers
    const isOwn = site === undefined ? origin === undefined || origin === this.#origin : site === 'same-origin'
    if (!isOwn) throw this.#otherSite()
  }

  /** Refuses a page that begins a change and that another site leads to, unless the browser does not say so. */
  refuseForeignLinks({ headers }: Context) {
    if (['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']))) throw this.#otherSite()
  }

  #otherSite() {
    return new ApiError('forbidden', `The request comes from another site. Only pages at ${this.#origin} may send it.`)
  }

  get #origin(): string {
    return new URL(this.#dependencies.publicUrl()).origin
  }
}

/** No route of the API takes what a form sends, except files. Some routes take no body, and would not look at it. */
const sentByForm = () => new ApiError('unsupported_media_type', 'A form may not call the API. Send JSON.')
