import type { GrantKind, Payment } from '../../../schemas/account-events.ts'
import type { StatementRow } from '../../../schemas/views.ts'
import type { LedgerEntry } from '../../services/ledger/ledger.ts'

/** A movement of credits in the words that people read, on pages and in files. */
export interface SpokenLine {
  revision: number
  at: string
  kind: StatementRow['kind']
  /** In a few words, such as `Bought` or `Nano Banana 2`. */
  what: string
  /** More about it, such as the reason of a refund. May be empty. */
  detail: string
  runId: string | undefined
  /** The ID of the model family. */
  model: string | undefined
  /** The name of the key that caused it. */
  keyName: string | undefined
  label: string | undefined
  /** The money that was paid for the credits. */
  payment?: Payment | undefined
  /** Negative if the balance falls. */
  changeMicros: number
  balanceMicros: number
}

export interface Names {
  models: ReadonlyMap<string, string>
  keys: ReadonlyMap<string, string>
}

export const spoken = ({ line, run }: LedgerEntry, { models, keys }: Names): SpokenLine => {
  const { revision, at, kind, amountMicros, balanceAfterMicros, runId, keyId } = line
  const { model, label } = run ?? line
  const isOut = kind === 'debit' || kind === 'withdrawal' || kind === 'expiry'
  return {
    ...{ revision, at, kind, runId, model, label, payment: line.payment },
    what: whatOf(line, model && (models.get(model) ?? model)),
    detail: detailOf(line),
    keyName: keyId && (keys.get(keyId) ?? keyId),
    changeMicros: isOut ? -amountMicros : amountMicros,
    balanceMicros: balanceAfterMicros,
  }
}

const whatOf = ({ kind, grantKind, reference = '' }: StatementRow, model = 'an old run'): string => {
  switch (kind) {
    case 'debit':
      return model
    case 'refund':
      return `Refund, ${model}`
    case 'release':
      return `Returned, ${model}`
    case 'grant':
      if (RETURNED.test(reference)) return 'Purchase returned'
      return grantKind ? granted[grantKind] : 'Granted'
    case 'withdrawal':
      return grantKind === 'purchase' ? 'Purchase taken back' : 'Taken back'
    case 'expiry':
      return 'Expired'
  }
}

/** The references of credits that a refund or dispute had taken. */
const RETURNED = / returned$/

const granted: Record<GrantKind, string> = {
  welcome: 'Welcome credits',
  purchase: 'Bought',
  courtesy: 'Granted',
  correction: 'Correction',
}

const detailOf = ({ kind, grantKind, reason = '', reference = '', payment }: StatementRow): string => {
  if (payment) {
    const { invoice, amount, currency, tax } = payment
    const source = invoice === undefined ? `payment ${reference}` : `invoice ${invoice}`
    return `${source}, ${amount} ${currency}${tax === undefined ? '' : `, ${tax} ${currency} of it tax`}`
  }
  if (kind === 'grant' && grantKind === 'welcome') return ''
  const isMoved = kind === 'grant' || kind === 'withdrawal'
  return [reason, ...(isMoved && !MADE_UP.test(reference) ? [reference] : [])].filter(Boolean).join(', ')
}

/** References that the console or the first start made, which say nothing to people. */
const MADE_UP = /^(console-[-0-9a-f]{36}|first-start)$/
