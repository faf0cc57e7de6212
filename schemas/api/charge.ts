import { type Static, Type } from 'typebox'
import { RunError } from '../account-events.ts'
import { Closed, Label, Slug, Timestamp } from '../primitives.ts'
import { about } from './about.ts'
import { RunId, RunStatus } from './common.ts'
import { LedgerLine } from './ledger.ts'

/** The most lines in a charge. An operator makes few refunds of a run. */
export const MAX_CHARGE_LINES = 100

const State = Closed({ status: RunStatus, at: about(Timestamp, 'When the run reached the state.') })

const PriceStep = Closed({
  step: about(Type.String(), 'The step of the calculation in words.', '× 1.5 (resolution is 2K)'),
  credits: about(Type.String(), 'The exact credits after the step, as a decimal number.', '31.5'),
})

/** The explanation of a charge: the price, the movements of credits, and the states of the run. */
export const Charge = Closed({
  object: Type.Literal('charge'),
  run_id: RunId,
  model: about(Slug, 'The model family.', 'nano-banana-2'),
  endpoint: about(Slug, 'The endpoint.', 'nano-banana-2-t2i'),
  label: Type.Optional(about(Label, 'The label of the run.', 'spring campaign')),
  status: RunStatus,
  credits_charged: about(Type.Number(), 'The credits that were debited.', 31.5),
  credits_refunded: about(Type.Number(), 'The credits that have been refunded so far.', 31.5),
  credits_released: about(Type.Number(), 'The credits that were reserved for tokens and not needed.', 0),
  credits: about(Type.Number(), 'The net cost: the credits charged less those refunded and released.', 0),
  price: about(
    Type.Array(PriceStep),
    'How the price was calculated, step by step: the price of the debit, or the final price after a release.',
  ),
  catalog_revision: about(Type.Integer({ minimum: 0 }), 'The revision of the catalog that had this price.', 41),
  states: about(Type.Array(State), 'The states of the run so far, in order.'),
  error: Type.Optional(about(RunError, 'Why the run failed.')),
  lines: about(
    Type.Array(LedgerLine),
    [
      'The debit, followed by its release and its refunds. Each line has the balance after it.',
      `At most ${MAX_CHARGE_LINES} lines.`,
      '`GET /v1/ledger/proof?event=` with the `event_id` of a line proves that the line is in the sealed log.',
    ].join(' '),
  ),
  request_id: Type.Optional(about(Type.String(), 'The ID of the request that was charged.')),
})
export type Charge = Static<typeof Charge>
