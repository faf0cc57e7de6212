import { decimal } from '../../../audit/decimal.ts'
import type { Statement } from '../../../audit/statement/statement.ts'
import { shown } from '../text.ts'

/** Writes microcredits as credits, such as `1,234.50`. */
export type Figures = (micros: number) => string

/** Amounts of money usually have two decimals, and credits have six at most. */
const FEWEST_PLACES = 2
const MOST_PLACES = 6

/** All figures of a statement have as many decimals as one of them needs, so that they stand below each other. */
export const figuresOf = ({ opening, closing, lines }: Statement): Figures => {
  const all = [opening, closing, ...lines.flatMap(({ change, balance }) => [change, balance])]
  const amounts = all.flatMap(({ freeMicros, paidMicros }) => [freeMicros, paidMicros])
  let places = FEWEST_PLACES
  while (places < MOST_PLACES && amounts.some(micros => micros % 10 ** (MOST_PLACES - places) !== 0)) places += 1
  return micros => {
    const [whole = '', fraction = ''] = shown(decimal(BigInt(micros), MOST_PLACES)).split('.')
    return `${whole}.${fraction.padEnd(places, '0')}`
  }
}

/** With the sign of a gain, too. */
export const signed =
  (figures: Figures): Figures =>
  micros =>
    `${micros > 0 ? '+' : ''}${figures(micros)}`
