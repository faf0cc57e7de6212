import type { Children } from '#jsx/jsx-runtime'
import type { CustomAmount, Pack } from '../../../schemas/packs.ts'
import { fromMicros } from '../../domain/money.ts'
import { CREDITS_PATH } from '../../services/purchases/pages.ts'
import type { ForSale } from '../../services/purchases/purchases.ts'
import { PageContext } from '../page-state.ts'
import { Button, Fault, Field, Form, faulty } from '../parts/form.tsx'
import { OwnerOnly } from '../parts/own.tsx'
import { credits, plural } from '../parts/text.ts'
import { priceOf, TOP_UP } from './purchase-words.ts'

export interface BuyCardProps {
  list: ForSale
  /** The debt, which the next credits pay first. */
  owedMicros: number
  /** The ID of the pack that the address names. */
  chosen?: string | undefined
  /** The amount of credits in the form. */
  entered: string
  /** The price of this amount, once it was asked for. */
  quoted?: { creditsMicros: number; amount: string; currency: string } | undefined
  faults: { form?: string | undefined; credits?: string | undefined; consent?: string | undefined }
}

/** What is for sale, with the price in the button. */
export const BuyCard = ({ list, owedMicros, chosen, entered, quoted, faults }: BuyCardProps) => {
  const { packs, customAmount, withdrawalDays } = list
  return (
    <section class="card" id="buy" aria-labelledby="buy-title">
      <div class="head">
        <h2 id="buy-title">Buy credits</h2>
        <span class="small faint">Prices include taxes. You pay at Stripe.</span>
      </div>
      <div class="pad stack">
        <Fault text={faults.form} />
        <PageContext.Consumer>
          {({ account }) =>
            account?.isTest ? (
              <p class="note">Test mode buys nothing. Switch to live mode to buy credits.</p>
            ) : (
              <Form action={CREDITS_PATH} id={FORM} class="stack">
                {withdrawalDays > 0 && <Consent days={withdrawalDays} fault={faults.consent} />}
                {list.canTopUp && <KeepMethod />}
              </Form>
            )
          }
        </PageContext.Consumer>
        {packs.length > 0 && (
          <ul class="packs">
            {packs.map(pack => (
              <PackItem key={pack.id} pack={pack} owedMicros={owedMicros} isChosen={pack.id === chosen} />
            ))}
          </ul>
        )}
        {customAmount && (
          <Custom custom={customAmount} owedMicros={owedMicros} entered={entered} quoted={quoted} faults={faults} />
        )}
      </div>
    </section>
  )
}

/** The form that opens purchases. Its buttons stand beside what they buy. */
const FORM = 'buy-form'

/** The field of the consent to begin before the days for withdrawal end. */
export const CONSENT = 'begin_at_once'

export const Consent = ({ days, fault }: { days: number; fault?: string | undefined }) => (
  <div class="field">
    <label class="choice">
      <input
        {...{ id: CONSENT, name: CONSENT, type: 'checkbox', value: 'true' }}
        required
        {...faulty(CONSENT, fault)}
      />
      <span>
        Give me the credits at once, although I may withdraw from the contract for {plural(days, 'day')}. If I withdraw,
        I pay for the credits that I have used by then, and get the rest of the price back.
      </span>
    </label>
    {fault !== undefined && (
      <p class="fault" id={`${CONSENT}-fault`} role="alert">
        {fault}
      </p>
    )}
  </div>
)

/** The field that keeps the payment method for top-ups. */
export const KEEP_METHOD = 'keep_method'

const KeepMethod = () => (
  <div class="row wrap between">
    <label class="choice">
      <input {...{ name: KEEP_METHOD, type: 'checkbox', value: 'true' }} />
      <span>Keep my payment method at Stripe, for automatic top-ups.</span>
    </label>
    <a class="line-link" href={TOP_UP}>
      Automatic top-ups
    </a>
  </div>
)

const PackItem = ({ pack, owedMicros, isChosen }: { pack: Pack; owedMicros: number; isChosen: boolean }) => {
  const { id, name, creditsMicros, bonusMicros = 0, validDays } = pack
  const totalMicros = creditsMicros + bonusMicros
  return (
    <li id={`pack-${id}`} {...(isChosen && { class: 'chosen', 'aria-current': 'true' as const })}>
      <h3 dir="auto">{name}</h3>
      <p>
        <strong>{credits(totalMicros)}</strong> credits
      </p>
      <ul class="small muted">
        {bonusMicros > 0 && <li>{credits(bonusMicros)} of them are a bonus</li>}
        <li>{validity(validDays)}</li>
        {owedMicros > 0 && <li>{afterDebt(totalMicros, owedMicros)}</li>}
      </ul>
      <Purchase field="pack" value={id} price={priceOf(pack)}>
        <span>
          Buy for {priceOf(pack)}
          <span class="visually-hidden">: {name}</span>
        </span>
      </Purchase>
    </li>
  )
}

interface CustomProps {
  custom: CustomAmount
  owedMicros: number
  entered: string
  quoted: BuyCardProps['quoted']
  faults: BuyCardProps['faults']
}

/** An amount that the buyer chooses. The next page has its price. */
const Custom = ({ custom, owedMicros, entered, quoted, faults }: CustomProps) => {
  const { minCreditsMicros, maxCreditsMicros, amountPerCredit, currency, validDays } = custom
  return (
    <div class="custom stack">
      <form method="get" action={`${CREDITS_PATH}#buy`}>
        <Field id="credits" label="Another amount" hint={bounds(custom)} fault={faults.credits}>
          <div class="row">
            <input
              {...{ id: 'credits', name: 'credits', type: 'number', required: true, autocomplete: 'off' }}
              min={fromMicros(minCreditsMicros)}
              max={fromMicros(maxCreditsMicros)}
              step="any"
              value={entered}
              {...faulty('credits', faults.credits)}
            />
            <Button>Show price</Button>
          </div>
        </Field>
      </form>
      <p class="small muted">
        {amountPerCredit} {currency} a credit, {lowercase(validity(validDays))}
        {quoted && owedMicros > 0 && `, ${afterDebt(quoted.creditsMicros, owedMicros)}`}
      </p>
      {quoted && (
        <Purchase
          field="credits"
          value={String(fromMicros(quoted.creditsMicros))}
          price={`${credits(quoted.creditsMicros)} credits cost ${priceOf(quoted)}`}
        >
          Buy {credits(quoted.creditsMicros)} credits for {priceOf(quoted)}
        </Purchase>
      )}
    </div>
  )
}

interface PurchaseProps {
  field: 'pack' | 'credits'
  value: string
  price: string
  children: Children
}

/** The button that opens a purchase, with its price. Test mode shows the price alone. */
const Purchase = ({ field, value, price, children }: PurchaseProps) => (
  <PageContext.Consumer>
    {({ account }) =>
      account?.isTest ? (
        <p>{price}</p>
      ) : (
        <OwnerOnly>
          <Button class="main" form={FORM} name={field} value={value}>
            {children}
          </Button>
        </OwnerOnly>
      )
    }
  </PageContext.Consumer>
)

const bounds = ({ minCreditsMicros, maxCreditsMicros }: CustomAmount) =>
  `${credits(minCreditsMicros)} to ${credits(maxCreditsMicros)} credits`

const validity = (validDays: number | undefined): string =>
  validDays === undefined ? 'Does not expire' : `Valid for ${plural(validDays, 'day')}`

const lowercase = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** The credits that a purchase leaves after the debt is paid. */
const afterDebt = (creditsMicros: number, owedMicros: number): string =>
  creditsMicros > owedMicros
    ? `${credits(creditsMicros - owedMicros)} left after your debt is paid`
    : 'all of it pays your debt'
