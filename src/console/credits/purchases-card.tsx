import type { PurchaseRow } from '../../../schemas/views.ts'
import { CREDITS_PATH, invoicePath, purchasePath } from '../../services/purchases/pages.ts'
import { alignerOf } from '../parts/numbers.tsx'
import { credits } from '../parts/text.ts'
import { Ago } from '../parts/time.tsx'
import { creditsIn, priceOf, statusOf } from './purchase-words.ts'
import { swaps } from './range.ts'
import { WithdrawalLink } from './withdrawal-page.tsx'

export interface PurchasesCardProps {
  /** A page of them, the newest first. */
  purchases: readonly PurchaseRow[]
  /** The cursor of the next page. */
  next: string | null
  /** Whether these are the newest. */
  isFirst: boolean
}

export const PurchasesCard = ({ purchases, next, isFirst }: PurchasesCardProps) => (
  <section class="card" id="purchases" aria-labelledby="purchases-title">
    <div class="head">
      <h2 id="purchases-title">Purchases</h2>
    </div>
    {purchases.length === 0 ? (
      <p class="pad muted">There are no older purchases.</p>
    ) : (
      <section class="scroll" tabindex={0} aria-label="Lines of the purchases">
        <Rows purchases={purchases} />
      </section>
    )}
    {(next !== null || !isFirst) && (
      <nav class="row between pad" aria-label="Pages of the purchases">
        {isFirst ? (
          <span />
        ) : (
          <a class="button" {...swaps('purchases', CREDITS_PATH)}>
            Newest purchases
          </a>
        )}
        {next !== null && (
          <a class="button" {...swaps('purchases', `${CREDITS_PATH}?purchases=${next}`)}>
            Older purchases
          </a>
        )}
      </nav>
    )}
  </section>
)

const Rows = ({ purchases }: { purchases: readonly PurchaseRow[] }) => {
  const align = alignerOf(purchases.map(creditsIn))
  return (
    <table class="fold purchases">
      <thead>
        <tr>
          <th scope="col">Opened</th>
          <th scope="col" class="num">
            Credits
          </th>
          <th scope="col" class="num">
            Price
          </th>
          <th scope="col">Status</th>
          <th scope="col">Invoice</th>
          <th scope="col">
            <span class="visually-hidden">Withdrawal</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {purchases.map(purchase => {
          const { purchaseId, createdAt, invoice } = purchase
          const { word, tone } = statusOf(purchase)
          return (
            <tr key={purchaseId}>
              <td>
                <Ago at={createdAt} />
              </td>
              <td class="num" {...align(creditsIn(purchase))}>
                <a href={purchasePath(purchaseId)} data-item>
                  {credits(creditsIn(purchase))}
                  <span class="when-folded"> credits</span>
                </a>
              </td>
              <td class="num">{priceOf(purchase)}</td>
              <td>
                <span class={`badge ${tone}`}>{word}</span> {purchase.methodOf && <span class="badge">Top-up</span>}
              </td>
              <td class="own-line">{invoice !== undefined && <a href={invoicePath(purchaseId)}>See the invoice</a>}</td>
              <td class="own-line">
                <WithdrawalLink purchase={purchase} />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
