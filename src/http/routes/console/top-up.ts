import type Router from '@koa/router'
import { MAX_GRANT_MICROS, MONEY_AMOUNT } from '../../../../schemas/primitives.ts'
import { CONSENT } from '../../../console/credits/buy-card.tsx'
import { TOP_UP, TOP_UP_OFF } from '../../../console/credits/purchase-words.ts'
import { TOP_UP_FIELDS, type TopUpFields, TopUpPage } from '../../../console/credits/top-up-page.tsx'
import { isWholeMicros, toMicros } from '../../../domain/money.ts'
import { modeOf, type SessionOwner } from '../../../services/caller.ts'
import { CREDITS_PATH } from '../../../services/purchases/pages.ts'
import type { NewTopUp } from '../../../services/purchases/top-ups.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { type RefusalMessages, unwrap } from '../../../transports/refusals.ts'
import { redirect, showError, showPage } from '../../answers/page-answers.ts'
import type { Context, RequestState } from '../../context.ts'
import { formField } from '../../middleware/pages.ts'
import type { PageDependencies } from './dependencies.ts'

/** The messages of the API name its fields. */
const OWN_WORDS: RefusalMessages = {
  no_kept_method: () => 'Buy credits once, tick "Keep my payment method", and pay. Then turn top-ups on here.',
  monthly_amount_too_low: ({ price, currency }) =>
    `One top-up can cost ${price} ${currency}, which is more than the monthly limit. Raise the limit.`,
  monthly_amount_invalid: ({ currency }) => `Give the monthly limit with the decimals of ${currency}, such as 50.00.`,
  target_too_low: () => 'The balance to fill up to must be more than the balance that starts a top-up.',
  begin_at_once_required: () => 'Tick the box to get the credits at once. Nothing has changed.',
}

/** Automatic top-ups, for the owner of an account. */
export const topUpPages = (router: Router<RequestState>, { services, forOwner }: PageDependencies) => {
  const { purchases, topUps } = services

  const pageFor = async (owner: SessionOwner, entered?: TopUpFields) => {
    const [found, forSale] = await Promise.all([topUps.find(owner), purchases.forSale(owner).then(unwrap)])
    if (!forSale.canTopUp) throw new ApiError('not_found', 'This service offers no automatic top-ups.')
    return (fault?: string) => TopUpPage({ topUp: 'value' in found ? found.value : undefined, forSale, entered, fault })
  }

  router.get(
    TOP_UP,
    forOwner(async (ctx, owner) => showPage(ctx, (await pageFor(owner))())),
  )

  router.post(
    TOP_UP,
    forOwner(async (ctx, owner) => {
      const entered = enteredIn(ctx)
      const page = await pageFor(owner, entered)
      try {
        if (modeOf(owner).livemode === false) throw new ApiError('forbidden', 'Test mode buys nothing.')
        unwrap(
          await topUps.set(owner, { ...wantedOf(entered), beginAtOnce: formField(ctx, CONSENT) === 'true' }),
          OWN_WORDS,
        )
        redirect(ctx, TOP_UP)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        showError(ctx, error, page)
      }
    }),
  )

  router.post(
    TOP_UP_OFF,
    forOwner(async (ctx, owner) => {
      const removed = await topUps.remove(owner)
      // A repeated form succeeds too.
      if ('refuse' in removed && removed.refuse.code !== 'top_up_not_found') return unwrap(removed)
      redirect(ctx, CREDITS_PATH)
    }),
  )
}

const enteredIn = (ctx: Context): TopUpFields =>
  Object.fromEntries(
    TOP_UP_FIELDS.flatMap(name => {
      const text = formField(ctx, name)
      return text === undefined || text === '' ? [] : [[name, text]]
    }),
  )

/** Throws ApiError for invalid amounts. */
const wantedOf = ({ below_credits, credits, target_credits, monthly_amount = '' }: TopUpFields): NewTopUp => {
  if ((credits === undefined) === (target_credits === undefined))
    throw new ApiError('invalid_request', 'Give the credits to buy each time, or the balance to fill up to.')
  if (!AMOUNT.test(monthly_amount))
    throw new ApiError('invalid_request', 'The monthly limit must be an amount, such as 50.00.')
  return {
    underMicros: microsIn(below_credits),
    monthlyAmount: monthly_amount,
    ...(credits === undefined ? { targetMicros: microsIn(target_credits) } : { creditsMicros: microsIn(credits) }),
  }
}

const microsIn = (text = ''): number => {
  const credits = /^[0-9.]+$/.test(text) ? Number(text) : Number.NaN
  if (!isWholeMicros(credits) || credits <= 0 || credits > MAX_CREDITS)
    throw new ApiError('invalid_request', `${text} is not a number of credits. Use at most six decimals.`)
  return toMicros(credits)
}

/** As in the API. */
const AMOUNT = new RegExp(`^${MONEY_AMOUNT}$`)
const MAX_CREDITS = MAX_GRANT_MICROS / 1_000_000
