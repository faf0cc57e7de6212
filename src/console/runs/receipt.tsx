import { Fragment } from '#jsx/jsx-runtime'
import type { PriceStep } from '../../audit/explain/price-steps.ts'
import { fromMicros } from '../../domain/money.ts'
import { Icon } from '../parts/icon.tsx'
import { credits, decimal } from '../parts/text.ts'
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
          {receipt.steps.filter(counts).map((step, index) => (
            <Line key={index} name={nameOf(step, run.endpoint)} amount={decimal(Number(step.result))} />
          ))}
          {run.livemode ? (
            <Settlement receipt={receipt} isOpen={isOpen(run)} />
          ) : (
            <Fragment>
              <Line name="With a live key" amount={credits(receipt.totalMicros)} />
              <Line name="Charged in test mode" amount="0 credits" isSum />
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
        {run.livemode && receipt.seal !== undefined && (
          <p class="small faint row tight">
            <Icon name="shield-check" />
            <span>The proof shows offline that this receipt is in the sealed ledger.</span>
          </p>
        )}
      </div>
    </section>
  )

/** Tokens of a kind that the run did not use are no step. */
const counts = ({ line }: PriceStep) => line.kind !== 'tokens' || line.count > 0

/** What was debited, and what came back. It shows only if anything did. */
const Settlement = ({ receipt, isOpen }: { receipt: ShownReceipt; isOpen: boolean }) => {
  const { totalMicros, chargedMicros, releasedMicros, refundedMicros } = receipt
  const costMicros = chargedMicros - releasedMicros - refundedMicros
  return (
    <Fragment>
      {releasedMicros > 0 && (
        <Fragment>
          <Line name="Price of what was used" amount={credits(totalMicros)} />
          <Line name="Reserved when accepted" amount={credits(chargedMicros)} />
          <Line name="Released" amount={credits(-releasedMicros)} />
        </Fragment>
      )}
      {releasedMicros === 0 && refundedMicros > 0 && <Line name="Debited" amount={credits(chargedMicros)} />}
      {refundedMicros > 0 && <Line name="Refunded" amount={credits(-refundedMicros)} />}
      <Line name={isOpen ? 'Debited' : 'Charged'} amount={creditsOf(fromMicros(costMicros))} isSum />
    </Fragment>
  )
}

const Line = ({ name, amount, isSum = false }: { name: string; amount: string; isSum?: boolean }) => (
  <div {...(isSum && { class: 'sum' })}>
    <dt>{name}</dt>
    <dd>{amount}</dd>
  </div>
)

/** A step in words: `× 2 images`, `× 1.5 quality high`. */
const nameOf = ({ line }: PriceStep, endpoint: string): string => {
  switch (line.kind) {
    case 'base':
      return `Base, ${endpoint}`
    case 'quantity':
      return `× ${decimal(line.value)} ${unitOf(line.parameter, line.value)}`
    case 'multiplier':
      return `× ${decimal(fromMicros(line.factorMicros))} ${wordsOf(line.parameter)} ${line.value}`
    case 'tokens':
      return `${decimal(line.count)} ${wordsOf(line.tokens)} tokens × ${credits(line.perMillionMicros)} a million`
    case 'surcharge':
      return `+ ${wordsOf(line.parameter)}`
    case 'rounding':
      return 'Rounded up to a millionth'
  }
}

const wordsOf = (parameter: string): string => parameter.replace(/^enable_/, '').replaceAll('_', ' ')

/** `num_images` counts images, and `duration` seconds. */
const unitOf = (parameter: string, value: number): string => {
  const counted = /^num_(\w+)s$/.exec(parameter)?.[1]
  const unit = counted?.replaceAll('_', ' ') ?? (parameter === 'duration' ? 'second' : undefined)
  return unit === undefined ? wordsOf(parameter) : `${unit}${value === 1 ? '' : 's'}`
}
