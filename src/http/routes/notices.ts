import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import * as api from '../../../schemas/api/notice.ts'
import { DEFAULT_NOTICES } from '../../domain/account/notices.ts'
import { fromMicros } from '../../domain/money.ts'
import type { NoticesInfo } from '../../services/notices/notices.ts'
import { microsOf } from '../../transports/moment.ts'
import { unwrap } from '../../transports/refusals.ts'
import { route } from '../route.ts'

const getNotices = route({
  id: 'getNotices',
  method: 'get',
  path: '/v1/notices',
  tag: 'Account',
  summary: 'Get the notice settings',
  description: [
    'Returns where the account gets notices, and at which balance. Notices report a low balance, keys at 80 % and',
    '100 % of their budgets, keys that expire within a week, and models in use that retire within 30, 7 and 1 days.',
  ].join(' '),
  auth: 'key or session',
  responses: {
    200: { description: 'The settings.', shape: api.NoticeSettings, examples: { Settings: examples.noticeSettings } },
  },
  serve: async (ctx, { notices }) => {
    const { caller } = ctx.state
    ctx.body = show(unwrap(await notices.settings(caller, caller.accountId)))
  },
})

const setNotices = route({
  id: 'setNotices',
  method: 'put',
  path: '/v1/notices',
  tag: 'Account',
  summary: 'Replace the notice settings',
  description: [
    'Missing settings get their defaults: mail to the first address of the account, no URL, and a balance under 10',
    'credits.',
    'Notices to a URL are webhooks with the types `balance.low`, `budget.warning`, `budget.exhausted`,',
    '`key.expiring`, `credits.expiring`, `model.retiring` and `withdrawal.received`. `email: false` without a `url`',
    'turns all notices off, but the receipt of a withdrawal is always mailed.',
  ].join(' '),
  auth: 'key or session',
  json: api.NewNoticeSettings,
  errors: ['invalid_input'],
  examples: { 'Mail and webhooks': examples.requests.notices },
  responses: {
    200: {
      description: 'The new settings.',
      shape: api.NoticeSettings,
      examples: { Settings: examples.noticeSettings },
    },
  },
  serve: async (ctx, { notices }, { json }) => {
    const { caller } = ctx.state
    ctx.body = show(unwrap(await notices.set(caller, caller.accountId, toNotices(json))))
  },
})

export const noticeRoutes = [getNotices, setNotices]

/** The settings as services know them. Throws ApiError for a balance with too many decimals. */
export const toNotices = ({
  email = DEFAULT_NOTICES.email,
  email_address: address,
  url,
  balance_under_credits: credits,
}: api.NewNoticeSettings): NoticesInfo => ({
  email,
  ...(address !== undefined && { address }),
  ...(url !== undefined && { url }),
  balanceUnderMicros:
    credits === undefined ? DEFAULT_NOTICES.balanceUnderMicros : microsOf('balance_under_credits', credits),
})

const show = ({ email, address, url, balanceUnderMicros }: NoticesInfo): api.NoticeSettings => ({
  object: 'notice_settings',
  email,
  ...(address !== undefined && { email_address: address }),
  ...(url !== undefined && { url }),
  balance_under_credits: fromMicros(balanceUnderMicros),
})
