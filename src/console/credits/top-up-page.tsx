import { fromMicros } from '../../domain/money.ts'
import type { ForSale } from '../../services/purchases/purchases.ts'
import type { TopUpInfo } from '../../services/purchases/top-ups.ts'
import { Fact } from '../parts/fact.tsx'
import { Button, Fault, Field, Form } from '../parts/form.tsx'
import { Moment } from '../parts/time.tsx'
import { Consent } from './buy-card.tsx'
import { PurchaseFrame } from './purchase-frame.tsx'
import { priceOf, TOP_UP, TOP_UP_OFF } from './purchase-words.ts'

/** The fields of the form, by their names in the API. */
export const TOP_UP_FIELDS = ['below_credits', 'credits', 'target_credits', 'monthly_amount'] as const
export type TopUpFields = Partial<Record<(typeof TOP_UP_FIELDS)[number], string>>

interface TopUpProps {
  /** Undefined while top-ups are off. */
  topUp: TopUpInfo | undefined
  forSale: ForSale
  /** What was entered, if it was refused. */
  entered?: TopUpFields | undefined
  fault?: string | undefined
}

/** When and how the service buys credits by itself. */
export const TopUpPage = ({ topUp, forSale, entered = fieldsOf(topUp), fault }: TopUpProps) => (
  <PurchaseFrame title="Automatic top-ups">
    <section class="card form-card" aria-labelledby="top-up-title">
      <div class="head">
        <h2 id="top-up-title">Buy credits when they run low</h2>
        <span class={`badge ${topUp ? 'good' : ''}`}>{topUp ? 'On' : 'Off'}</span>
      </div>
      <div class="pad stack">
        {topUp && <State {...topUp} />}
        <p class="muted">
          The service charges the payment method that you kept at Stripe with a purchase, at the price of{' '}
          {forSale.customAmount?.amountPerCredit} {forSale.customAmount?.currency} a credit. It never charges more than
          your limit in a calendar month. After three failed payments in a row, top-ups end, and you get a notice.
        </p>
        <Fault text={fault} />
        <Form action={TOP_UP} class="stack">
          <Amount name="below_credits" label="When the balance falls below" hint="credits" entered={entered} required />
          <Amount name="credits" label="Buy" hint="credits each time" entered={entered} />
          <Amount name="target_credits" label="Or fill up to" hint="credits" entered={entered} />
          <Amount
            name="monthly_amount"
            label="Pay at most"
            hint={`${forSale.customAmount?.currency ?? ''} a month`}
            entered={entered}
            required
          />
          {forSale.withdrawalDays > 0 && <Consent days={forSale.withdrawalDays} />}
          <Button class="main">{topUp ? 'Change' : 'Turn on'}</Button>
        </Form>
        {topUp && (
          <Form action={TOP_UP_OFF}>
            <Button>Turn off</Button>
          </Form>
        )}
      </div>
    </section>
  </PurchaseFrame>
)

const State = ({ settings, paidAmount, dueAt, purchaseId, failures }: TopUpInfo) => (
  <dl class="facts">
    <Fact name="Paid this month">
      {priceOf({ amount: paidAmount, currency: settings.currency })} of{' '}
      {priceOf({ amount: settings.monthlyAmount, currency: settings.currency })}
    </Fact>
    {dueAt !== undefined && <Fact name="Next payment">{purchaseId ? 'under way' : <Moment at={dueAt} />}</Fact>}
    {failures > 0 && <Fact name="Failed in a row">{failures} of 3</Fact>}
  </dl>
)

interface AmountProps {
  name: keyof TopUpFields
  label: string
  hint: string
  entered: TopUpFields
  required?: boolean
}

const Amount = ({ name, label, hint, entered, required = false }: AmountProps) => (
  <Field id={name} label={label} hint={hint}>
    <input
      {...{ id: name, name, inputmode: 'decimal', autocomplete: 'off', required }}
      pattern="[0-9]+([.][0-9]+)?"
      value={entered[name] ?? ''}
    />
  </Field>
)

const fieldsOf = (topUp: TopUpInfo | undefined): TopUpFields => {
  if (!topUp) return {}
  const { underMicros, creditsMicros, targetMicros, monthlyAmount } = topUp.settings
  return {
    below_credits: String(fromMicros(underMicros)),
    ...(creditsMicros !== undefined && { credits: String(fromMicros(creditsMicros)) }),
    ...(targetMicros !== undefined && { target_credits: String(fromMicros(targetMicros)) }),
    monthly_amount: monthlyAmount,
  }
}
