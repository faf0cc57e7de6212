import { credits } from './text.ts'

/** A large number of credits, whose decimals step back. */
export const Figure = ({ micros }: { micros: number }) => {
  const [whole, decimals] = credits(micros).split('.')
  return (
    <>
      {whole}
      {decimals !== undefined && <span class="decimals">.{decimals}</span>}
    </>
  )
}

/** Decimals that credits can have, and their point. */
const ZEROS = '.000000'

/**
 * Aligns the decimal points of a column: each cell gets what its number lacks of the most decimals, and the style sheet
 * leaves that much space. The text of the cell is only the number.
 */
export const alignerOf = (column: readonly number[]) => {
  const most = Math.max(0, ...column.map(placesOf))
  return (micros: number) => ({ 'data-lacks': ZEROS.slice(placesOf(micros), most) || undefined })
}

/** How long the point and the decimals of a number are: 0, or 2 to 7. */
const placesOf = (micros: number): number => {
  const decimals = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1].findIndex(unit => micros % unit === 0)
  return decimals === 0 ? 0 : decimals + 1
}
