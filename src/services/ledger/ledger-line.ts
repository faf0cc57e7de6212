import { LRUCache } from 'lru-cache'
import type { LedgerLine } from '../../../schemas/api/ledger.ts'
import type { QuoteLine } from '../../../schemas/api/run.ts'
import type { ReceiptLine } from '../../../schemas/catalog.ts'
import type { StatementPrice } from '../../../schemas/views.ts'
import { fromMicros } from '../../domain/money.ts'
import { upTo } from '../../flow/cache-limit.ts'
import type { LedgerEntry } from './ledger.ts'

/** The API form of a line of the ledger. */
export const ledgerLine = ({ line, run }: LedgerEntry): LedgerLine => {
  const { kind, amountMicros, runId, priceText, grantKind, reference, reason, payment, lot, expiresAt, keyId } = line
  const { model, endpoint, label, budget } = run ?? line
  const isOut = kind === 'debit' || kind === 'withdrawal' || kind === 'expiry'
  return {
    object: 'ledger_line',
    event_id: line.eventId,
    revision: line.revision,
    created_at: line.at,
    kind,
    credits: fromMicros(isOut ? -amountMicros : amountMicros),
    credits_balance: fromMicros(line.balanceAfterMicros),
    ...(runId && { run_id: runId }),
    ...(model !== undefined && { model }),
    ...(endpoint !== undefined && { endpoint }),
    ...(priceText !== undefined && { lines: priceLines(priceText) }),
    ...(grantKind && { grant_kind: grantKind }),
    ...(reference !== undefined && { reference }),
    ...(reason !== undefined && { reason }),
    ...(payment && { payment }),
    ...(lot !== undefined && { lot }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(keyId && { key_id: keyId }),
    ...(label !== undefined && { label }),
    ...(budget !== undefined && { budget }),
  }
}

/** Prices in memory, about a kilobyte each. */
const MAX_PRICES = 2_000

const shownPrices = new LRUCache<string, QuoteLine[]>(upTo(MAX_PRICES))

const priceLines = (text: string): QuoteLine[] => {
  const known = shownPrices.get(text)
  if (known) return known
  // A price without a surcharge needs no rate.
  const { lines, usdPerCreditMicros = 0 }: StatementPrice = JSON.parse(text)
  const shown = lines.map(line => quoteLine(line, usdPerCreditMicros))
  shownPrices.set(text, shown)
  return shown
}

/** The API form of a receipt's line. */
export const quoteLine = (line: ReceiptLine, usdPerCreditMicros: number): QuoteLine => {
  switch (line.kind) {
    case 'base':
      return { kind: 'base', credits: fromMicros(line.amountMicros) }
    case 'quantity':
      return line
    case 'multiplier':
      return { kind: 'multiplier', parameter: line.parameter, value: line.value, factor: fromMicros(line.factorMicros) }
    case 'tokens': {
      const { kind, tokens, count, perMillionMicros } = line
      return { kind, tokens, count, credits_per_million: fromMicros(perMillionMicros) }
    }
    case 'surcharge':
      return {
        kind: 'surcharge',
        parameter: line.parameter,
        usd: fromMicros(line.usdMicros),
        usd_per_credit: fromMicros(usdPerCreditMicros),
        credits: fromMicros(line.amountMicros),
      }
  }
}
