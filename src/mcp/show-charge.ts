import type { Charge } from '../../schemas/api/charge.ts'
import type { RunRow } from '../../schemas/views.ts'
import { priceSteps, stepToText } from '../audit/explain/price-steps.ts'
import { fromMicros } from '../domain/money.ts'
import type { ChargeStory } from '../services/ledger/charges.ts'
import type { Presenter } from '../services/presenter.ts'

/** A charge in the form of the API. */
export const showCharge = ({ run, lines, receipt, requestId }: ChargeStory, present: Presenter): Charge => {
  const { runId, model, endpoint, label, status, error } = run
  const { chargedMicros, refundedMicros = 0, releasedMicros = 0 } = run
  return {
    object: 'charge',
    run_id: runId,
    model,
    endpoint,
    ...(label !== undefined && { label }),
    status,
    credits_charged: fromMicros(chargedMicros),
    credits_refunded: fromMicros(refundedMicros),
    credits_released: fromMicros(releasedMicros),
    credits: fromMicros(chargedMicros - refundedMicros - releasedMicros),
    price: priceSteps(receipt).map(step => ({
      step: stepToText(step, receipt.usdPerCreditMicros),
      credits: step.result,
    })),
    catalog_revision: receipt.catalogRevision,
    states: statesOf(run),
    ...(error && { error }),
    lines: lines.map(line => present.ledgerLine({ line, run })),
    ...(requestId !== undefined && { request_id: requestId }),
  }
}

/** A run may fail before it starts. */
const statesOf = ({ status, createdAt, startedAt, completedAt }: RunRow): Charge['states'] => [
  { status: 'queued', at: createdAt },
  ...(startedAt === undefined ? [] : [{ status: 'processing' as const, at: startedAt }]),
  ...(completedAt === undefined ? [] : [{ status, at: completedAt }]),
]
