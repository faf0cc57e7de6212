// Shares no code with the decisions that close months, so that a mistake would have to be made twice to go unnoticed.

/** The first moment of a month such as `2026-11` in UTC, as a time of the log. */
export const startOf = (month: string): string => `${month}-01T00:00:00.000Z`

/** The month after one. */
export const monthAfter = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number)
  const [nextYear, next] = number === 12 ? [year + 1, 1] : [year, number + 1]
  return `${String(nextYear).padStart(4, '0')}-${String(next).padStart(2, '0')}`
}

/** The month before one. */
export const monthBefore = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number)
  const [lastYear, last] = number === 1 ? [year - 1, 12] : [year, number - 1]
  return `${String(lastYear).padStart(4, '0')}-${String(last).padStart(2, '0')}`
}

/** The month of a time of the log. */
export const monthOf = (at: string): string => at.slice(0, 'YYYY-MM'.length)
