import type Router from '@koa/router'
import { ErrorPage } from '../../../console/error-page.tsx'
import { refuse } from '../../../domain/refusal.ts'
import { type Answer, answer } from '../../../services/answer.ts'
import { TELEGRAM_RETURN_PATH, type TelegramReturn } from '../../../services/sign-in/telegram-proofs.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { errorOf, unwrap } from '../../../transports/refusals.ts'
import { redirect, showRefusal } from '../../answers/page-answers.ts'
import { anonymousCaller, type Context, type RequestState } from '../../context.ts'
import type { PageDependencies } from './dependencies.ts'
import { homeAfter, SETTINGS } from './settings.ts'

/** The time that people have to confirm at Telegram. */
const ATTEMPT_MS = 10 * 60 * 1000

/** The cookie with the secrets of an attempt. Only the browser that began an attempt can finish it. */
const COOKIE = 'telegram'

/** Sends browsers to Telegram and back, to sign in or to link a Telegram account. */
export const telegramRoutes = (
  router: Router<RequestState>,
  { services, sessions, clientIn, forFreshOwner }: PageDependencies,
) => {
  const { cookies } = sessions

  const begin = (purpose: 'sign-in' | 'link') => async (ctx: Context) => {
    // A link is permanent, and Telegram may not ask a person who has agreed before.
    if (purpose === 'link') sessions.refuseForeignLinks(ctx)
    const { url, attempt } = unwrap(await services.signIn.beginTelegram(anonymousCaller(ctx)))
    const { state, nonce, verifier } = attempt
    cookies.write(ctx, COOKIE, [purpose, state, nonce, verifier].join('.'), ATTEMPT_MS)
    redirect(ctx, url)
  }
  router.get('/console/sign-in/telegram', begin('sign-in'))
  router.get('/console/identities/telegram', forFreshOwner(begin('link')))

  router.get(TELEGRAM_RETURN_PATH, async ctx => {
    const [purpose, state = '', nonce = '', verifier = ''] = cookies.read(ctx, COOKIE)?.split('.') ?? []
    if (!verifier) throw new ApiError('invalid_request', NOT_BEGUN)
    // An attempt can be finished only once, even if it fails.
    cookies.remove(ctx, COOKIE)
    const returned = { query: ctx.search, attempt: { state, nonce, verifier }, ...clientIn(ctx) }
    const outcome = await (purpose === 'link' ? link(ctx, returned) : signIn(ctx, returned))
    if (!('refuse' in outcome)) return redirect(ctx, outcome.value)
    const { status } = errorOf(outcome.refuse)
    const { requestId } = ctx.state
    showRefusal(ctx, outcome.refuse, message => ErrorPage({ status, message, requestId }))
  })

  const signIn = async (ctx: Context, returned: TelegramReturn): Promise<Answer<string>> => {
    const entry = { ...returned, earlierToken: sessions.tokenOf(ctx) }
    const entered = await services.signIn.enterTelegram(anonymousCaller(ctx), entry)
    if ('refuse' in entered) return entered
    sessions.begin(ctx, entered.value)
    return answer(homeAfter(entered.value))
  }

  const link = async (ctx: Context, returned: TelegramReturn): Promise<Answer<string>> => {
    const owner = await sessions.ownerOf(ctx)
    if (!owner) return refuse('session_ended')
    const linked = await services.identities.enterTelegram(owner, returned)
    return 'refuse' in linked ? linked : answer(SETTINGS)
  }
}

const NOT_BEGUN = 'This browser has not begun to sign in with Telegram in the last ten minutes. Try again.'
