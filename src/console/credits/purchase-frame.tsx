import type { Children } from '#jsx/jsx-runtime'
import type { PurchaseRow } from '../../../schemas/views.ts'
import { CREDITS_PATH } from '../../services/purchases/pages.ts'
import { credits } from '../parts/text.ts'
import { Shell } from '../shell.tsx'
import { creditsIn, priceOf } from './purchase-words.ts'

/** A page about one purchase. */
export const PurchaseFrame = ({ title, children }: { title: string; children: Children }) => (
  <Shell
    title={title}
    heading={
      <>
        <a href={CREDITS_PATH}>Credits</a> / {title}
      </>
    }
  >
    <div class="page narrow stack">{children}</div>
  </Shell>
)

export const PurchaseTitle = ({ purchase }: { purchase: PurchaseRow }) => (
  <h2 id="purchase-title">
    {credits(creditsIn(purchase))} credits for {priceOf(purchase)}
  </h2>
)
