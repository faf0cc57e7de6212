/** Times of the log: the first one is included, the second one is not. */
export interface CostPeriod {
  from?: string | undefined
  to?: string | undefined
}

export const isWithin = (at: string, { from = '', to }: CostPeriod): boolean =>
  at >= from && (to === undefined || at < to)
