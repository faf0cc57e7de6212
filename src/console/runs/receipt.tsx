import { Fragment } from '#jsx/jsx-runtime'
import type { PriceStep } from '../../audit/explain/price-steps.ts'
import { fromMicros, toMicros } from '../../domain/money.ts'
import { Icon } from '../parts/icon.tsx'
import { credits, decimal, SIDES } from '../parts/text.ts'
import { isOpen, type RunFacts, type ShownReceipt } from './run-facts.ts'
import { creditsOf } from './run-words.ts'

/** The receipt of a run, line by line, and what the run cost in the end. */
export const Receipt = ({ facts: { run, receipt } }: { facts: RunFacts }) =>
  receipt === undefined ? null : (
    <section class="card" aria-labelledby="receipt">
      <div class="head">
        <h2 id="receipt">Receipt</h2>
        {receipt.seal !== undefined && (
          <a class="link small" href={`/v1/ledger/proof?run=${run.run_id}`} download={`proof-${run.run_id}.json`}>
            Download the proof
          </a>
        )}
      </div>
      <div class="pad">
        <dl class="receipt">
          {entriesOf(receipt.steps.filter(counts)).map(({ name, amount }) => (
            <Line key={name} name={name} amount={decimal(amount, EXACT_PLACES)} />
          ))}
          {run.livemode ? (
            <Settlement receipt={receipt} isOpen={isOpen(run)} />
          ) : (
            <Fragment>
              <Line name="With a live key" amount={credits(receipt.totalMicros)} />
              <Line name="Charged in test mode" amount="0 credits" kind="sum" />
            </Fragment>
          )}
        </dl>
        <p class="small faint receipt-note">
          {[
            `Price list revision ${receipt.catalogRevision}`,
            receipt.debitRevision !== undefined && `event ${receipt.debitRevision} of your account`,
            receipt.seal !== undefined && `covered by seal ${receipt.seal}`,
            receipt.debitRevision !== undefined && receipt.seal === undefined && 'not sealed yet',
            run.livemode && isOpen(run) && 'refunded in full if the run fails',
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
        {run.livemode && receipt.debitRevision !== undefined && receipt.seal === undefined && (
          <p class="small faint">
            Each change of the price list and each event of your account has a number. The next seal covers this event;
            from then on, a proof shows that nobody has changed it.
          </p>
        )}
        {run.livemode && receipt.seal !== undefined && (
          <p class="small faint row tight">
            <Icon name="shield-check" />
            <span>The proof shows offline that this receipt is in the sealed ledger.</span>
          </p>
        )}
      </div>
    </section>
  )

/** Tokens of a kind that the run did not use, and choices that cost nothing more, are left out. */
const counts = ({ line }: PriceStep) =>
  (line.kind !== 'tokens' || line.count > 0) && (line.kind !== 'multiplier' || line.factorMicros !== toMicros(1))

/** What came back of the price, what the run cost, and what was held until it ended. */
const Settlement = ({ receipt, isOpen }: { receipt: ShownReceipt; isOpen: boolean }) => {
  const { chargedMicros, releasedMicros, refundedMicros } = receipt
  const costMicros = chargedMicros - releasedMicros - refundedMicros
  return (
    <Fragment>
      {refundedMicros > 0 && <Line name="Refunded" amount={credits(-refundedMicros)} />}
      <Line name={isOpen ? 'Debited' : 'Charged'} amount={creditsOf(fromMicros(costMicros))} kind="sum" />
      {releasedMicros > 0 && (
        <Line
          name="Held while it ran"
          amount={`${credits(chargedMicros)}, of which ${credits(releasedMicros)} was returned`}
          kind="aside"
        />
      )}
    </Fragment>
  )
}

interface LineProps {
  name: string
  amount: string
  kind?: 'sum' | 'aside'
}

const Line = ({ name, amount, kind }: LineProps) => (
  <div {...(kind && { class: kind })}>
    <dt>{name}</dt>
    <dd>{amount}</dd>
  </div>
)

/** A price of a token has twice the decimals of a credit. */
const EXACT_PLACES = 12

/** The steps as entries that add up to the price. All factors are in the entry of the base price. */
const entriesOf = (steps: readonly PriceStep[]): { name: string; amount: number }[] => {
  const factors = steps.filter(({ line }) => isFactor(line))
  const product = { name: factors.map(({ line }) => nameOf(line)).join(' '), amount: Number(factors.at(-1)?.result) }
  const [first] = factors
  if (factors.length === 1 && first) product.name = `Base price ${nameOf(first.line)}`
  const added = steps.filter(({ line }) => !isFactor(line)).map(step => ({ name: nameOf(step.line), step }))
  return [
    ...(first ? [product] : []),
    ...added.map(({ name, step }) => ({ name, amount: Number(step.result) - resultBefore(steps, step) })),
  ]
}

const isFactor = ({ kind }: PriceStep['line']) => ['base', 'quantity', 'multiplier'].includes(kind)

const resultBefore = (steps: readonly PriceStep[], step: PriceStep) =>
  Number(steps[steps.indexOf(step) - 1]?.result ?? 0)

/** A step in words: `× 2 images`, `× 1.5 (quality high)`. */
const nameOf = (line: PriceStep['line']): string => {
  switch (line.kind) {
    case 'base':
      return credits(line.amountMicros)
    case 'quantity':
      return `× ${decimal(line.value)} ${unitOf(line.parameter, line.value)}`
    case 'multiplier':
      return `× ${decimal(fromMicros(line.factorMicros))} (${wordsOf(line.parameter)} ${line.value})`
    case 'tokens':
      return [
        `${decimal(line.count)} ${wordsOf(line.tokens)} tokens`,
        `at ${credits(line.perMillionMicros)} credits a million`,
      ].join(' ')
    case 'surcharge':
      return wordsOf(line.parameter)
    case 'rounding':
      return 'Rounded up to a millionth'
  }
}

const wordsOf = (parameter: string): string => parameter.replace(/^enable_/, '').replaceAll('_', ' ')

/** `num_images` counts images, and `duration` seconds. */
const unitOf = (parameter: string, value: number): string => {
  const counted = /^num_(\w+)s$/.exec(parameter)?.[1]
  const unit = counted?.replaceAll('_', ' ') ?? (parameter === 'duration' ? 'second' : undefined)
  return unit === undefined ? (SIDES[parameter] ?? wordsOf(parameter)) : `${unit}${value === 1 ? '' : 's'}`
}
