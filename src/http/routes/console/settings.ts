import type Router from '@koa/router'
import { NewNoticeSettings } from '../../../../schemas/api/notice.ts'
import { WELCOME_WITHHELD } from '../../../../schemas/registration-events.ts'
import { EraseAccountPage } from '../../../console/settings/erase-account-page.tsx'
import type { NoticeFields, NoticeFormProps } from '../../../console/settings/notices-card.tsx'
import { SettingsPage } from '../../../console/settings/settings-page.tsx'
import { fromMicros } from '../../../domain/money.ts'
import type { SessionOwner } from '../../../services/caller.ts'
import type { NoticesInfo } from '../../../services/notices/notices.ts'
import type { SignedIn } from '../../../services/sign-in/sign-in.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { readerOf } from '../../../transports/validate.ts'
import { redirect, showError, showPage } from '../../answers/page-answers.ts'
import type { Context, RequestState } from '../../context.ts'
import { formField } from '../../middleware/pages.ts'
import { toNotices } from '../notices.ts'
import type { PageDependencies } from './dependencies.ts'

export const SETTINGS = '/console/settings'

const ERASE = `${SETTINGS}/erase`

/** The query parameter with the reason that a new account has no welcome credits. */
const WITHHELD = 'no-credits'

/** The query after the notices were saved. */
const SAVED = 'saved'

/** The page after a sign-in. */
export const homeAfter = ({ withheld }: Pick<SignedIn, 'withheld'>): string =>
  withheld ? `${SETTINGS}?${WITHHELD}=${withheld}` : '/console'

const readNotices = readerOf(NewNoticeSettings, 'form')

/** The settings of an account, for its owner. */
export const settingsPages = (
  router: Router<RequestState>,
  { services, sessions: browsers, forOwner, forFreshOwner }: PageDependencies,
) => {
  const { identities, sessions, keys, notices } = services

  const settingsPage = async (
    ctx: Context,
    owner: SessionOwner,
    sent?: Pick<NoticeFormProps, 'entered' | 'faults'>,
  ) => {
    const { accountId } = owner
    const known = unwrap(await identities.list(owner))
    const form = sent ?? { entered: fieldsOf(unwrap(await notices.settings(owner, accountId))), faults: {} }
    return SettingsPage({
      ...{ accountId, identities: known, sessions: unwrap(await sessions.list(owner)) },
      limits: unwrap(await keys.limits(owner)),
      notices: {
        ...form,
        addresses: known.flatMap(identity => (identity.kind === 'email' ? [identity.address] : [])),
        isSaved: ctx.querystring === SAVED,
      },
      withheld: WELCOME_WITHHELD.find(each => each === ctx.query[WITHHELD]),
    })
  }

  router.get(
    SETTINGS,
    forOwner(async (ctx, owner) => showPage(ctx, await settingsPage(ctx, owner))),
  )

  router.post(
    `${SETTINGS}/notices`,
    forOwner(async (ctx, owner) => {
      const entered = {
        email: formField(ctx, 'email') !== '',
        address: formField(ctx, 'address'),
        url: formField(ctx, 'url').trim(),
        balanceUnder: formField(ctx, 'balance_under').trim(),
      }
      try {
        unwrap(await notices.set(owner, owner.accountId, toNotices(settingsIn(entered))))
        redirect(ctx, `${SETTINGS}?${SAVED}#notices`)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const page = await settingsPage(ctx, owner, { entered, faults: noticeFaults(error) })
        showError(ctx, error, () => page)
      }
    }),
  )

  router.get(
    ERASE,
    forFreshOwner(async (ctx, { accountId }) => showPage(ctx, EraseAccountPage({ accountId }))),
  )

  router.post(
    ERASE,
    forFreshOwner(async (ctx, owner) => {
      const { accountId } = owner
      try {
        if (formField(ctx, 'account').trim() !== accountId)
          throw new ApiError('invalid_request', 'This is not the ID of the account.')
        unwrap(await services.accounts.eraseOwn(owner))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return showError(ctx, error, fault => EraseAccountPage({ accountId, fault }))
      }
      browsers.end(ctx)
      redirect(ctx, '/')
    }),
  )

  router.post(
    '/console/sessions/end-others',
    forFreshOwner(async (ctx, owner) => {
      unwrap(await sessions.closeOthers(owner))
      redirect(ctx, `${SETTINGS}#sessions`)
    }),
  )

  router.post(
    '/console/sessions/:id/end',
    forFreshOwner(async (ctx, owner) => {
      const closed = await sessions.closeOther(owner, String(ctx['params'].id))
      // It has ended already, or was another account's.
      if ('refuse' in closed && closed.refuse.code !== 'session_ended') unwrap(closed)
      redirect(ctx, `${SETTINGS}#sessions`)
    }),
  )
}

const fieldsOf = ({ email, address = '', url = '', balanceUnderMicros }: NoticesInfo): NoticeFields => ({
  ...{ email, address, url },
  balanceUnder: String(fromMicros(balanceUnderMicros)),
})

const settingsIn = ({ email, address, url, balanceUnder }: NoticeFields): NewNoticeSettings =>
  readNotices({
    email,
    ...(address !== '' && { email_address: address }),
    ...(url !== '' && { url }),
    ...(balanceUnder !== '' && { balance_under_credits: Number(balanceUnder) }),
  })

/** The fault of the form at the field that an error names, or else above all of them. */
const noticeFaults = ({ message, details: { errors = [] } }: ApiError): NoticeFormProps['faults'] => {
  const [first] = errors
  const field = first && FIELDS[first.path]
  return field ? { [field]: message } : { form: message }
}

const FIELDS: Record<string, 'address' | 'url' | 'balanceUnder'> = {
  '/email_address': 'address',
  '/url': 'url',
  '/balance_under_credits': 'balanceUnder',
}
