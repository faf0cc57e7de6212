import type { QuoteLine } from '../../../schemas/api/run.ts'
import type { ReceiptLine } from '../../../schemas/catalog.ts'
import { fromMicros } from '../../domain/money.ts'

/** A receipt's line with credits and US dollars as numbers. */
export const quoteLine = (line: ReceiptLine, usdPerCreditMicros: number): QuoteLine => {
  switch (line.kind) {
    case 'base':
      return { kind: 'base', credits: fromMicros(line.amountMicros) }
    case 'quantity':
      return line
    case 'multiplier':
      return { kind: 'multiplier', parameter: line.parameter, value: line.value, factor: fromMicros(line.factorMicros) }
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
