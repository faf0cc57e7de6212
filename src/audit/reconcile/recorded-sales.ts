import { accountIn } from '../../../schemas/events.ts'
import type { Money } from '../../../schemas/purchase-events.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { microsOf } from '../decimal.ts'
import { type OnProgress, readLog } from '../read-log.ts'
import type { Sum } from './stripe-report.ts'

/** A move of money in the ledger, which the report must have as a line of this category. */
export interface RecordedMove {
  category: 'charge' | 'refund' | 'refund_failure' | 'dispute' | 'dispute_reversal'
  /** The ID of the payment for a charge, and else of the refund or dispute. */
  object: string
  account: string
  purchaseId: string
  /** ISO 8601, in UTC. */
  at: string
  /** Undefined if only the end of a refund or dispute was reported. */
  sum?: Sum
  /** The fee of a charge, once it is known. */
  fee?: Sum
}

const PURCHASE_EVENTS = new Set([
  ...['PurchasePaid', 'FeeCharged', 'RefundRequested', 'RefundAccepted', 'PaymentRefunded', 'RefundFailed'],
  ...['PaymentDisputed', 'DisputeWon'],
])

/** Reads the moves of money of all purchases in a log, in its order. */
export const recordedSales = async (log: ReadableLog, onProgress?: OnProgress): Promise<RecordedMove[]> => {
  const moves: RecordedMove[] = []
  const charges = new Map<string, RecordedMove>()
  const claims = new Map<string, RecordedMove>()
  /** Claims that only take credits for others. */
  const withoutMoney = new Set<string>()
  for await (const page of readLog(log, { onProgress }))
    for (const raw of page) {
      const account = accountIn(raw.stream)
      if (account === undefined || !PURCHASE_EVENTS.has(raw.type)) continue
      const { type, data, metadata } = eventCodec.decode(raw)
      const { at } = metadata
      const add = (move: Omit<RecordedMove, 'account' | 'at'>): RecordedMove => {
        const added = { ...move, account, at }
        moves.push(added)
        return added
      }
      const claim = (category: 'refund' | 'dispute', { claimId, purchaseId, ...money }: ClaimData) => {
        // The report has the ID of the dispute for its appeal too.
        const object = claimId.replace(/ on appeal$/, '')
        if (Number(money.amount) === 0) {
          withoutMoney.add(`${account} ${claimId}`)
          return
        }
        claims.set(`${account} ${claimId}`, add({ category, object, purchaseId, sum: sumOf(money) }))
      }
      const reverse = (category: 'refund_failure' | 'dispute_reversal', { claimId, purchaseId }: ClaimEnd) => {
        if (withoutMoney.has(`${account} ${claimId}`)) return
        const known = claims.get(`${account} ${claimId}`)
        const sum = known?.sum && { sum: known.sum }
        add({ category, object: known?.object ?? claimId, purchaseId, ...sum })
        if (!known) add({ category: category === 'refund_failure' ? 'refund' : 'dispute', object: claimId, purchaseId })
      }
      switch (type) {
        case 'PurchasePaid': {
          const { purchaseId, paymentId, ...money } = data
          // A free purchase has no charge.
          if (Number(money.amount) === 0) continue
          charges.set(purchaseId, add({ category: 'charge', object: paymentId, purchaseId, sum: sumOf(money) }))
          continue
        }
        case 'FeeCharged': {
          const charge = charges.get(data.purchaseId)
          if (charge) charge.fee = sumOf(data)
          continue
        }
        case 'RefundRequested':
        case 'PaymentRefunded':
          claim('refund', data)
          continue
        case 'RefundAccepted': {
          const refund = claims.get(`${account} ${data.claimId}`)
          if (refund) refund.object = data.refundId
          continue
        }
        case 'PaymentDisputed':
          claim('dispute', data)
          continue
        case 'RefundFailed':
          reverse('refund_failure', data)
          continue
        case 'DisputeWon':
          reverse('dispute_reversal', data)
      }
    }
  return moves
}

interface ClaimEnd {
  claimId: string
  purchaseId: string
}

type ClaimData = Money & ClaimEnd

const sumOf = ({ amount, currency }: Money): Sum => ({ micros: microsOf(amount), currency })
