import type Router from '@koa/router'
import type { PurchaseRow } from '../../../../schemas/views.ts'
import { type BuyCardProps, CONSENT, KEEP_METHOD } from '../../../console/credits/buy-card.tsx'
import { PayPage, PurchasePage } from '../../../console/credits/purchase-page.tsx'
import { isPayable, payPath, withdrawalPath } from '../../../console/credits/purchase-words.ts'
import type { PurchasesCardProps } from '../../../console/credits/purchases-card.tsx'
import { WithdrawalPage } from '../../../console/credits/withdrawal-page.tsx'
import { credits as creditsText } from '../../../console/parts/text.ts'
import { refuse } from '../../../domain/refusal.ts'
import { Unavailable } from '../../../ports/faults.ts'
import { modeOf, type SessionOwner } from '../../../services/caller.ts'
import { isPurchaseId } from '../../../services/ids.ts'
import { CREDITS_PATH, invoicePath, purchasePath } from '../../../services/purchases/pages.ts'
import type { Wanted } from '../../../services/purchases/price-list.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { errorOf, type RefusalMessages, unwrap } from '../../../transports/refusals.ts'
import { redirect, showPage } from '../../answers/page-answers.ts'
import { waitingClient } from '../../connections/disconnect.ts'
import type { Context, RequestState } from '../../context.ts'
import { formField } from '../../middleware/pages.ts'
import type { PageDependencies } from './dependencies.ts'

/** Purchases on a page of the list. */
const PER_PAGE = 10

/** A page of an open purchase reloads itself at this pace, and only so long after the purchase was opened. */
const RELOAD_SECONDS = 5
const YOUNG_MS = 10 * 60 * 1000

/** The messages of the API name IDs and fields. */
const OWN_WORDS: RefusalMessages = {
  pack_unknown: () => 'This pack is no longer for sale. Please choose another one.',
  amount_out_of_bounds: ({ bounds }) =>
    bounds === undefined
      ? 'Credits are for sale only in packs.'
      : `Choose ${boundsText(bounds)} credits, with at most six decimals.`,
  purchase_ambiguous: () => 'Choose a pack or an amount of credits.',
  begin_at_once_required: () => 'Tick this box to get the credits at once. Nothing was bought.',
}

const boundsText = ({ minMicros, maxMicros }: { minMicros: number; maxMicros: number }) =>
  `${creditsText(minMicros)} to ${creditsText(maxMicros)}`

/** A refused purchase, with the reason. */
export interface RefusedPurchase {
  wanted: Wanted | undefined
  error: ApiError
}

/** The parts of the page of credits about buying. */
export interface SaleParts {
  /** Missing if nothing is for sale. */
  sale?: Omit<BuyCardProps, 'owedMicros'>
  /** Missing if nothing was ever bought. */
  purchases?: PurchasesCardProps
}

/** The parts of the page of credits about buying, as they are now. */
export const salePartsOf = async (
  { purchases, priceList }: PageDependencies['services'],
  ctx: Context,
  owner: SessionOwner,
  refused?: RefusedPurchase,
): Promise<SaleParts> => {
  const { pack, credits, purchases: from } = ctx.query
  const cursor = isPurchaseId(from) ? from : undefined
  const [list, page] = await Promise.all([
    purchases.forSale(owner).then(unwrap),
    purchases.list(owner, { limit: PER_PAGE, cursor }, waitingClient(ctx)).then(unwrap),
  ])
  const wanted = refused ? refused.wanted : wantedOf(pack, credits)
  const isSelling = list.packs.length > 0 || list.customAmount !== undefined
  const quote = wanted && isSelling ? await priceList.quote(owner, wanted) : undefined
  const error = refused?.error ?? (quote && 'refuse' in quote ? errorOf(quote.refuse, OWN_WORDS) : undefined)
  const [path] = error?.details.errors?.map(each => each.path) ?? []
  const place = path === '/begin_at_once' ? 'consent' : path === '/credits' && list.customAmount ? 'credits' : 'form'
  const amount = wanted && 'credits' in wanted ? wanted.credits : Number.NaN
  return {
    ...((isSelling || refused) && {
      sale: {
        ...{ list, chosen: wanted && 'pack' in wanted ? wanted.pack : undefined },
        entered: Number.isNaN(amount) ? '' : String(amount),
        quoted: !Number.isNaN(amount) && quote && 'value' in quote ? quote.value : undefined,
        faults: { [place]: error?.message },
      },
    }),
    ...((page.found.length > 0 || cursor !== undefined) && {
      purchases: { purchases: page.found, next: page.next, isFirst: cursor === undefined },
    }),
  }
}

/** Buying, for the owner of an account. `showCredits` shows the page of credits with a refused purchase. */
export const purchasePages = (
  router: Router<RequestState>,
  { services, clock, forOwner, pageStates }: PageDependencies,
  showCredits: (ctx: Context, owner: SessionOwner, refused: RefusedPurchase) => Promise<void>,
) => {
  const { purchases, withdrawals } = services

  router.post(
    CREDITS_PATH,
    forOwner(async (ctx, owner) => {
      const wanted = wantedOf(formField(ctx, 'pack'), formField(ctx, 'credits'))
      try {
        if (modeOf(owner).livemode === false) throw new ApiError('forbidden', 'Test mode buys nothing.')
        if (!wanted) return unwrap(refuse('purchase_ambiguous'), OWN_WORDS)
        const [beginAtOnce, keepsMethod] = [CONSENT, KEEP_METHOD].map(name => formField(ctx, name) === 'true')
        const terms = { beginAtOnce, keepsMethod }
        const { purchaseId } = unwrap(await purchases.open(owner, wanted, terms), OWN_WORDS)
        // The policy for forms allows no redirect to another site, and not even one after that.
        redirect(ctx, payPath(purchaseId))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        await showCredits(ctx, owner, { wanted, error })
      }
    }),
  )

  router.get(
    payPath(':id'),
    forOwner(async (ctx, owner) => {
      const purchase = unwrap(await purchases.find(owner, String(ctx['params'].id)))
      const { url = '' } = purchase
      if (!isPayable(purchase, clock.nowMs())) return redirect(ctx, purchasePath(purchase.purchaseId))
      // Without a script. Browsers replace this page, so that "back" leads to the page before it.
      ctx.set('Refresh', `0; url=${url}`)
      showPage(ctx, PayPage({ purchase, url }))
    }),
  )

  router.get(
    withdrawalPath(':id'),
    forOwner(async (ctx, owner) => {
      const { refund, ...preview } = unwrap(await withdrawals.preview(owner, String(ctx['params'].id)))
      if (!refund) return redirect(ctx, purchasePath(preview.purchase.purchaseId))
      showPage(ctx, WithdrawalPage({ refund, ...preview }))
    }),
  )

  router.post(
    withdrawalPath(':id'),
    forOwner(async (ctx, owner) => {
      const { purchaseId } = unwrap(await withdrawals.declare(owner, String(ctx['params'].id)))
      redirect(ctx, purchasePath(purchaseId))
    }),
  )

  router.get(
    invoicePath(':id'),
    forOwner(async (ctx, owner) => redirect(ctx, unwrap(await purchases.invoice(owner, String(ctx['params'].id))).url)),
  )

  router.get(
    purchasePath(':id'),
    forOwner(async (ctx, owner) => {
      const { purchase, isOld } = await settled(owner, String(ctx['params'].id))
      // The balance beside it has the credits, even if they came this moment.
      ctx.state.page = await pageStates.ofOwner(ctx, owner)
      const nowMs = clock.nowMs()
      const reloads = purchase.status === 'open' && nowMs - Date.parse(purchase.createdAt) < YOUNG_MS
      if (reloads) ctx.set('Refresh', String(RELOAD_SECONDS))
      showPage(ctx, PurchasePage({ purchase, nowMs, isOld, reloads }))
    }),
  )

  /** The current purchase or, if the payment service does not answer, its last known state. */
  const settled = async (owner: SessionOwner, id: string): Promise<{ purchase: PurchaseRow; isOld: boolean }> => {
    try {
      return { purchase: unwrap(await purchases.settle(owner, id)), isOld: false }
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      return { purchase: unwrap(await purchases.find(owner, id)), isOld: true }
    }
  }
}

/** The choice in an address or a form. For invalid numbers, it is an amount that is not for sale. */
const wantedOf = (pack: unknown, credits: unknown): Wanted | undefined => {
  if (typeof pack === 'string' && pack !== '') return { pack }
  if (typeof credits !== 'string' || credits === '') return undefined
  return { credits: /^[0-9.]+$/.test(credits) ? Number(credits) : Number.NaN }
}
