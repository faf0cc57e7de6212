import type { GrantKind, Payment } from '../../../schemas/account-events.ts'
import type { Receipt } from '../../../schemas/catalog.ts'
import type { Position } from '../../../schemas/recorded.ts'
import type { Split } from './lots.ts'

/** One movement of an account's credits, with everything that a book-keeper asks about it. */
export interface LedgerLine {
  account: string
  revision: number
  position: Position
  eventId: string
  /** ISO 8601, in UTC. */
  at: string
  /** The link of the event, which ties it to the account's history. */
  hash: string
  kind: 'grant' | 'withdrawal' | 'debit' | 'refund'
  /** The gain of the balance; negative for a loss. */
  change: Split
  balance: Split
  /** In grants and withdrawals. */
  grantKind?: GrantKind
  reference?: string
  /** In all lines but debits. */
  reason?: string
  /** In purchases, unless they are from before payments were recorded. */
  payment?: Payment
  /** In debits and refunds. */
  run?: BookedRun
  /** In debits. */
  receipt?: Receipt
}

/** A run as its debit describes it. */
export interface BookedRun {
  runId: string
  model: string
  endpoint: string
  /** The API key that requested it; absent if something else did. */
  keyId?: string
  /** The client's own name for what it was for. */
  label?: string
}

export const totalOf = ({ freeMicros, paidMicros }: Split): number => freeMicros + paidMicros
