import type Router from '@koa/router'
import { AddAddressPage } from '../../../console/settings/add-address-page.tsx'
import { CodePage } from '../../../console/sign-in/code-page.tsx'
import { CODE_MS } from '../../../services/sign-in/one-time-codes.ts'
import { redirect, showError, showPage, showRefusal } from '../../answers/page-answers.ts'
import type { RequestState } from '../../context.ts'
import { formField } from '../../middleware/pages.ts'
import type { PageDependencies } from './dependencies.ts'
import { noCodeRequested, PendingCode, type PendingCodes } from './pending-code.ts'
import { SETTINGS } from './settings.ts'

const ADD = '/console/identities'
const ENTER_CODE = '/console/identities/code'

/** The pages on which owners add an address that signs in to their account. */
export const identityPages = (
  router: Router<RequestState>,
  { services, sessions, mailFolder, hasTelegram, clientIn, forFreshOwner }: PageDependencies,
) => {
  const { identities } = services
  const pending = new PendingCode(sessions.cookies, 'identity')
  const codePage = ({ email, earlier }: PendingCodes, fault?: string) =>
    CodePage({
      ...{ email, hasEarlier: earlier !== undefined, fault, isBusy: false },
      ...{ folder: mailFolder, minutes: CODE_MS / 60_000 },
      ...{ action: ENTER_CODE, back: ADD, purpose: 'add an address' },
    })

  router.get(
    ADD,
    forFreshOwner(ctx => showPage(ctx, AddAddressPage({ hasTelegram }))),
  )

  router.post(
    ADD,
    forFreshOwner(async (ctx, owner) => {
      const email = formField(ctx, 'email')
      const requested = await identities.requestCode(owner, { email, ...clientIn(ctx) })
      if ('refuse' in requested)
        return showRefusal(ctx, requested.refuse, fault => AddAddressPage({ email, fault, hasTelegram }))
      pending.write(ctx, { email, codeId: requested.value.codeId })
      redirect(ctx, ENTER_CODE)
    }),
  )

  router.get(
    ENTER_CODE,
    forFreshOwner(ctx => {
      const requested = pending.read(ctx)
      if (requested) showPage(ctx, codePage(requested))
      else redirect(ctx, ADD)
    }),
  )

  router.post(
    ENTER_CODE,
    forFreshOwner(async (ctx, owner) => {
      const code = formField(ctx, 'code')
      const requested = pending.read(ctx)
      if (!requested) return showError(ctx, noCodeRequested(), fault => AddAddressPage({ fault, hasTelegram }))
      const linked = await identities.enterCode(owner, { ...requested, code, ...clientIn(ctx) })
      if ('refuse' in linked) return showRefusal(ctx, linked.refuse, fault => codePage(requested, fault))
      pending.remove(ctx)
      redirect(ctx, SETTINGS)
    }),
  )
}
