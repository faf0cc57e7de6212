import type Router from '@koa/router'
import { CodePage } from '../../../console/sign-in/code-page.tsx'
import { FirstSignInPage, UsedLinkPage } from '../../../console/sign-in/first-sign-in-page.tsx'
import { SignInPage } from '../../../console/sign-in/sign-in-page.tsx'
import { FIRST_OWNER, FIRST_SIGN_IN_PATH } from '../../../services/sign-in/first-owner.ts'
import { CODE_MS } from '../../../services/sign-in/one-time-codes.ts'
import { redirect, showError, showPage, showRefusal } from '../../answers/page-answers.ts'
import { anonymousCaller, type Context, type RequestState } from '../../context.ts'
import { askForCode } from '../../middleware/fresh-codes.ts'
import { formField } from '../../middleware/pages.ts'
import type { PageDependencies } from './dependencies.ts'
import { noCodeRequested, PendingCode, type PendingCodes } from './pending-code.ts'
import { homeAfter } from './settings.ts'

const SIGN_IN = '/console/sign-in'
const ENTER_CODE = '/console/sign-in/code'

/** The query of the page for the code while only people with an account get one. */
const BUSY = 'busy'

/** The pages on which people sign in and out. */
export const signInPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, sessions, registration, mailFolder, hasTelegram, clientIn } = dependencies
  const pending = new PendingCode(sessions.cookies, 'sign-in')
  const codePage = (
    { email, earlier }: PendingCodes,
    { fault, isBusy = false }: { fault?: string; isBusy?: boolean } = {},
  ) =>
    CodePage({
      ...{ email, hasEarlier: earlier !== undefined, fault, isBusy, folder: mailFolder, minutes: CODE_MS / 60_000 },
      ...{ action: ENTER_CODE, back: SIGN_IN, purpose: 'sign in' },
    })

  router.get(SIGN_IN, async ctx => {
    if (await sessions.ownerOf(ctx)) return redirect(ctx, '/console')
    showPage(ctx, SignInPage({ registration, hasTelegram }))
  })

  router.post(SIGN_IN, async ctx => {
    const email = formField(ctx, 'email')
    const requested = await services.signIn.requestCode(anonymousCaller(ctx), { email, ...clientIn(ctx) })
    if ('refuse' in requested)
      return showRefusal(ctx, requested.refuse, fault => SignInPage({ email, fault, registration, hasTelegram }))
    const { codeId, isBusy } = requested.value
    pending.write(ctx, { email, codeId })
    redirect(ctx, isBusy ? `${ENTER_CODE}?${BUSY}` : ENTER_CODE)
  })

  router.get(ENTER_CODE, ctx => {
    const code = pending.read(ctx)
    if (code) showPage(ctx, codePage(code, { isBusy: ctx.querystring === BUSY }))
    else redirect(ctx, SIGN_IN)
  })

  router.post(ENTER_CODE, async ctx => {
    const code = formField(ctx, 'code')
    const requested = pending.read(ctx)
    if (!requested) return showError(ctx, noCodeRequested(), fault => SignInPage({ fault, registration, hasTelegram }))
    const earlierToken = sessions.tokenOf(ctx)
    const entry = { ...requested, code, ...clientIn(ctx), earlierToken }
    const entered = await services.signIn.enterCode(anonymousCaller(ctx), entry)
    if ('refuse' in entered) return showRefusal(ctx, entered.refuse, fault => codePage(requested, { fault }))
    pending.remove(ctx)
    sessions.begin(ctx, entered.value)
    redirect(ctx, homeAfter(entered.value))
  })

  const usedLinkPage = (fault: string) => UsedLinkPage({ email: FIRST_OWNER.address, fault, folder: mailFolder })

  // Programs that look at links send no forms, so they do not use up the code.
  router.get(FIRST_SIGN_IN_PATH, async ctx => {
    if (await sessions.ownerOf(ctx)) return redirect(ctx, '/console')
    const [codeId, code] = [String(ctx.query['id'] ?? ''), String(ctx.query['code'] ?? '')]
    const checked = await services.signIn.checkFirstLink(anonymousCaller(ctx), codeId)
    if ('refuse' in checked) return showRefusal(ctx, checked.refuse, usedLinkPage)
    showPage(ctx, FirstSignInPage({ email: FIRST_OWNER.address, codeId, code }))
  })

  router.post(FIRST_SIGN_IN_PATH, async ctx => {
    const [codeId, code] = [formField(ctx, 'id'), formField(ctx, 'code')]
    const { address: email } = FIRST_OWNER
    const entry = { email, codeId, code, ...clientIn(ctx), earlierToken: sessions.tokenOf(ctx) }
    const entered = await services.signIn.enterCode(anonymousCaller(ctx), entry)
    if ('refuse' in entered) return showRefusal(ctx, entered.refuse, usedLinkPage)
    sessions.begin(ctx, entered.value)
    redirect(ctx, homeAfter(entered.value))
  })

  const signOut = (close: 'close' | 'closeAll') => async (ctx: Context) => {
    const owner = await sessions.ownerToSignOut(ctx)
    const closed = owner && (await services.sessions[close](owner))
    // Any other refusal means that the session has ended already.
    if (closed && 'refuse' in closed && closed.refuse.code === 'fresh_code_required') return askForCode(ctx)
    sessions.end(ctx)
    redirect(ctx, SIGN_IN)
  }
  router.post('/console/sign-out', signOut('close'))
  router.post('/console/sign-out-everywhere', signOut('closeAll'))
}
