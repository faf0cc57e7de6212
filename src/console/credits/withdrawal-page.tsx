import type { PurchaseRow } from '../../../schemas/views.ts'
import type { Money } from '../../ports/payments.ts'
import { purchasePath } from '../../services/purchases/pages.ts'
import { withdrawableUntil } from '../../services/purchases/purchase-item.ts'
import type { WithdrawalPreview } from '../../services/purchases/withdrawals.ts'
import { PageContext } from '../page-state.ts'
import { Fact } from '../parts/fact.tsx'
import { Button, Form } from '../parts/form.tsx'
import { OwnerOnly } from '../parts/own.tsx'
import { credits } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'
import { PurchaseFrame, PurchaseTitle } from './purchase-frame.tsx'
import { isReturnFailed, isWithdrawable, priceOf, withdrawalPath } from './purchase-words.ts'

interface WithdrawalProps extends WithdrawalPreview {
  refund: Money
}

/**
 * The second step of a withdrawal. Its words, and those of the link to it, are those of the law: Directive 2011/83/EU,
 * article 11a.
 */
export const WithdrawalPage = ({ purchase, refund, takenMicros, mailTo }: WithdrawalProps) => (
  <PurchaseFrame title="Withdrawal">
    <section class="card form-card" aria-labelledby="purchase-title">
      <div class="head">
        <PurchaseTitle purchase={purchase} />
      </div>
      <div class="pad stack">
        <p>
          You withdraw from the contract about this purchase. You pay for the credits that you have used, and get{' '}
          <strong>{priceOf(refund)}</strong> back to your payment method.
          {takenMicros > 0 && ` Your account loses ${credits(takenMicros)} credits.`} Credits of runs that have not
          ended count as used.
        </p>
        <dl class="facts">
          <Fact name="Purchase">
            <code class="id">{purchase.purchaseId}</code>
          </Fact>
          <Fact name="Paid">
            <Moment at={purchase.paidAt ?? ''} />
          </Fact>
          <Fact name="Receipt">
            {mailTo === undefined ? 'on the page of the purchase' : <bdi>by mail to {mailTo}</bdi>}
          </Fact>
        </dl>
        <Form action={withdrawalPath(purchase.purchaseId)} class="row wrap">
          <Button class="main">Confirm withdrawal</Button>
          <a class="button quiet" href={purchasePath(purchase.purchaseId)}>
            Keep the credits
          </a>
        </Form>
      </div>
    </section>
  </PurchaseFrame>
)

/** The first step of a withdrawal, until the right to withdraw ends. */
export const WithdrawalLink = ({ purchase, ...attributes }: { purchase: PurchaseRow; class?: string }) => (
  <PageContext.Consumer>
    {({ nowMs }) =>
      isWithdrawable(purchase, nowMs) && (
        <OwnerOnly>
          <a href={withdrawalPath(purchase.purchaseId)} {...attributes}>
            Withdraw from contract here
          </a>
        </OwnerOnly>
      )
    }
  </PageContext.Consumer>
)

/** The withdrawal of a purchase, or the end of the right to withdraw. */
export const WithdrawalEnd = ({ purchase }: { purchase: PurchaseRow }) => (
  <Fact name="Withdrawal">
    {purchase.withdrawal ? (
      <>
        received at <Moment at={purchase.withdrawal.at} />,{' '}
        {isReturnFailed(purchase)
          ? `the refund of ${priceOf(purchase.withdrawal)} failed`
          : `you get ${priceOf(purchase.withdrawal)} back`}
      </>
    ) : (
      <>
        until <Moment at={withdrawableUntil(purchase) ?? ''} />
      </>
    )}
  </Fact>
)
