import type { Children } from '#jsx/jsx-runtime'
import type { ClaimRow, PurchaseRow } from '../../../schemas/views.ts'
import { CREDITS_PATH, invoicePath, purchasePath } from '../../services/purchases/pages.ts'
import { withdrawableUntil } from '../../services/purchases/purchase-item.ts'
import { standingClaims } from '../../services/purchases/sales-by-country.ts'
import { Fact } from '../parts/fact.tsx'
import { Icon } from '../parts/icon.tsx'
import { credits } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'
import { PurchaseFrame, PurchaseTitle } from './purchase-frame.tsx'
import {
  buyAgainPath,
  claimWords,
  isPayable,
  payPath,
  priceOf,
  statusOf,
  TOP_UP,
  withdrawalWords,
} from './purchase-words.ts'
import { WithdrawalEnd, WithdrawalLink } from './withdrawal-page.tsx'

interface PurchaseProps {
  purchase: PurchaseRow
  nowMs: number
  /** Whether the payment service did not answer. */
  isOld: boolean
  /** Whether the page reloads itself. */
  reloads: boolean
}

/** The page that a buyer returns to, with the state of the purchase. */
export const PurchasePage = ({ purchase, nowMs, isOld, reloads }: PurchaseProps) => {
  const { word, tone } = statusOf(purchase)
  return (
    <PurchaseFrame title="Purchase">
      <section class="card form-card" aria-labelledby="purchase-title">
        <div class="head">
          <PurchaseTitle purchase={purchase} />
          <span class={`badge ${tone}`} role="status">
            {word}
          </span>
        </div>
        <div class="pad stack">
          {isOld && <p class="note">The payment service does not answer right now, so this may be out of date.</p>}
          <State purchase={purchase} nowMs={nowMs} reloads={reloads} />
          <Facts purchase={purchase} />
        </div>
      </section>
      {purchase.claims && purchase.claims.length > 0 && <Claims claims={purchase.claims} />}
    </PurchaseFrame>
  )
}

/** Sends the browser on to the payment service. The policy for forms does not allow the form to do that itself. */
export const PayPage = ({ purchase, url }: { purchase: PurchaseRow; url: string }) => (
  <PurchaseFrame title="Payment">
    <section class="card form-card" aria-labelledby="purchase-title">
      <div class="head">
        <PurchaseTitle purchase={purchase} />
      </div>
      <div class="pad stack">
        <p>You pay on a page of the payment service. If it does not open by itself, continue here.</p>
        <div class="row">
          <a class="button main" href={url}>
            <Icon name="external-link" />
            Continue to payment
          </a>
          <a class="button quiet" href={CREDITS_PATH}>
            Back to your credits
          </a>
        </div>
      </div>
    </section>
  </PurchaseFrame>
)

const State = ({ purchase, nowMs, reloads }: Omit<PurchaseProps, 'isOld'>) => {
  const { status, purchaseId } = purchase
  switch (status) {
    case 'paid':
      return (
        <>
          <p>
            {purchase.withdrawal
              ? withdrawalWords(purchase)
              : standingClaims(purchase).length === 0
                ? 'Thank you. Your payment has arrived, and your account has the credits.'
                : 'Your payment arrived. Since then, it was returned in whole or in part, with its credits.'}
          </p>
          <Actions>
            <a class="button main" href={CREDITS_PATH}>
              See your balance
            </a>
            <a class="button" href="/console/playground">
              Go to the playground
            </a>
            <WithdrawalLink purchase={purchase} class="button" />
          </Actions>
        </>
      )
    case 'open':
      return (
        <>
          <p>
            Your payment has not arrived yet. Most payments take seconds, and a bank transfer may take days. You need
            not wait here.{' '}
            {reloads ? 'This page reloads itself for a few minutes.' : 'You can reload this page at any time.'}
          </p>
          {isPayable(purchase, nowMs) && (
            <p class="muted">If you have not paid yet, you still can. A purchase cannot be paid twice.</p>
          )}
          <Actions>
            {isPayable(purchase, nowMs) && (
              <a class="button main" href={payPath(purchaseId)}>
                <Icon name="external-link" />
                Continue to payment
              </a>
            )}
            <a class="button" href={purchasePath(purchaseId)}>
              Reload
            </a>
          </Actions>
        </>
      )
    case 'expired':
    case 'failed':
      return (
        <>
          <p>
            {status === 'failed'
              ? 'Your payment failed, so nothing was charged. Try another payment method.'
              : purchase.methodOf
                ? 'This top-up was cancelled before it was charged.'
                : 'The time to pay is over, and nothing was charged. You can buy the same credits again.'}
          </p>
          <Actions>
            <a class="button main" href={buyAgainPath(purchase)}>
              Try again
            </a>
            <a class="button quiet" href={CREDITS_PATH}>
              Back to your credits
            </a>
          </Actions>
        </>
      )
  }
}

const Actions = ({ children }: { children: Children }) => <div class="row wrap">{children}</div>

const Facts = ({ purchase }: { purchase: PurchaseRow }) => {
  const { purchaseId, methodOf, createdAt, paidAt, bonusMicros, tax, currency, country, invoice } = purchase
  return (
    <dl class="facts">
      <Fact name="Purchase">
        <code class="id">{purchaseId}</code>
      </Fact>
      {bonusMicros !== undefined && <Fact name="Bonus">{credits(bonusMicros)} of the credits</Fact>}
      {methodOf && (
        <Fact name="Bought by">
          an <a href={TOP_UP}>automatic top-up</a>
        </Fact>
      )}
      <Fact name="Opened">
        <Moment at={createdAt} />
      </Fact>
      {paidAt !== undefined && (
        <Fact name="Paid">
          <Moment at={paidAt} />
        </Fact>
      )}
      {(purchase.withdrawal || withdrawableUntil(purchase)) && <WithdrawalEnd purchase={purchase} />}
      {tax !== undefined && (
        <Fact name="Tax">
          {priceOf({ amount: tax, currency })}, included in the price{country !== undefined && ` (${country})`}
        </Fact>
      )}
      {invoice !== undefined && (
        <Fact name="Invoice">
          <a href={invoicePath(purchaseId)}>
            See the invoice <Icon name="external-link" />
          </a>
        </Fact>
      )}
    </dl>
  )
}

const Claims = ({ claims }: { claims: readonly ClaimRow[] }) => (
  <section class="card" aria-labelledby="claims-title">
    <div class="head">
      <h2 id="claims-title">Refunds and disputes</h2>
    </div>
    <section class="scroll" tabindex={0} aria-label="Lines of the refunds and disputes">
      <table class="fold">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col" class="num">
              Amount
            </th>
            <th scope="col">Status</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {claims.map(claim => (
            <tr key={claim.claimId}>
              <td>{claim.kind === 'refund' ? 'Refund' : 'Dispute'}</td>
              <td class="num">{priceOf(claim)}</td>
              <td>{claimWords(claim)}</td>
              <td class="own-line">
                <Moment at={claim.reversedAt ?? claim.at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  </section>
)
