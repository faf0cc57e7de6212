/** The first moment after a month in UTC such as `2026-11`, in milliseconds since 1970. */
export const endMsOf = (period: string): number => {
  const end = new Date(`${period}-01T00:00:00.000Z`)
  return end.setUTCMonth(end.getUTCMonth() + 1)
}

/** The month after a month. */
export const nextPeriod = (period: string): string => periodOf(new Date(endMsOf(period)).toISOString())

/** The month of a time of the log. */
export const periodOf = (at: string): string => at.slice(0, 'YYYY-MM'.length)
