import type Router from '@koa/router'
import { CodePage } from '../../../console/sign-in/code-page.tsx'
import { ConfirmPage } from '../../../console/sign-in/confirm-page.tsx'
import { CODE_MS } from '../../../services/sign-in/one-time-codes.ts'
import { ownPath } from '../../answers/own-path.ts'
import { redirect, showPage, showRefusal } from '../../answers/page-answers.ts'
import type { Context, RequestState } from '../../context.ts'
import { CONFIRM } from '../../middleware/fresh-codes.ts'
import { formField } from '../../middleware/pages.ts'
import type { PageDependencies } from './dependencies.ts'
import { PendingCode, type PendingCodes } from './pending-code.ts'
import { SETTINGS } from './settings.ts'

const ENTER_CODE = `${CONFIRM}/code`

/** The pages on which owners enter a fresh code before they change who may use the account. */
export const confirmPages = (
  router: Router<RequestState>,
  { services, sessions, mailFolder, hasTelegram, clientIn, forOwner }: PageDependencies,
) => {
  const { identities } = services
  const pending = new PendingCode(sessions.cookies, 'confirm')
  const at = (path: string, back: string) => `${path}?${new URLSearchParams({ back })}`
  const codePage = ({ email, earlier }: PendingCodes, next: string, fault?: string) =>
    CodePage({
      ...{ email, hasEarlier: earlier !== undefined, fault, isBusy: false },
      ...{ folder: mailFolder, minutes: CODE_MS / 60_000, next },
      ...{ action: ENTER_CODE, back: at(CONFIRM, next), purpose: 'confirm' },
    })

  router.get(
    CONFIRM,
    forOwner(ctx => showPage(ctx, ConfirmPage({ back: backIn(ctx), hasTelegram }))),
  )

  router.post(
    CONFIRM,
    forOwner(async (ctx, owner) => {
      const back = backIn(ctx)
      const requested = await identities.requestConfirmation(owner, clientIn(ctx))
      if ('refuse' in requested)
        return showRefusal(ctx, requested.refuse, fault => ConfirmPage({ back, fault, hasTelegram }))
      pending.write(ctx, requested.value)
      redirect(ctx, at(ENTER_CODE, back))
    }),
  )

  router.get(
    ENTER_CODE,
    forOwner(ctx => {
      const requested = pending.read(ctx)
      if (requested) showPage(ctx, codePage(requested, backIn(ctx)))
      else redirect(ctx, at(CONFIRM, backIn(ctx)))
    }),
  )

  router.post(
    ENTER_CODE,
    forOwner(async (ctx, owner) => {
      const back = backIn(ctx)
      const requested = pending.read(ctx)
      if (!requested) return redirect(ctx, at(CONFIRM, back))
      const entry = { ...requested, code: formField(ctx, 'code'), ...clientIn(ctx) }
      const confirmed = await identities.confirm(owner, entry)
      if ('refuse' in confirmed) return showRefusal(ctx, confirmed.refuse, fault => codePage(requested, back, fault))
      pending.remove(ctx)
      redirect(ctx, back)
    }),
  )
}

/** The page to come back to. */
const backIn = (ctx: Context): string => ownPath(formField(ctx, 'back') || String(ctx.query['back'] ?? '')) ?? SETTINGS
