import { parseTime } from '../../audit/as-of.ts'
import type { CostPeriod } from '../../audit/costs/provider-statement.ts'
import { UNABLE } from '../audit/with-log.ts'
import { OperatorError } from '../operator-error.ts'

export const FROM = 'start of the period, inclusive: a date in UTC, or a time with a zone such as 2026-11-01T00:00:00Z'
export const TO = 'end of the period, exclusive, in the same form'

/** Throws OperatorError for a text that is no time. */
export const costPeriod = (options: CostPeriod): CostPeriod => {
  const [from, to] = [timeOf('from', options.from), timeOf('to', options.to)]
  if (from !== undefined && to !== undefined && from >= to)
    throw new OperatorError('--to must be later than --from.', UNABLE)
  return { from, to }
}

const timeOf = (name: string, text: string | undefined): string | undefined => {
  const time = text === undefined ? undefined : parseTime(text)
  if (text !== undefined && time === undefined)
    throw new OperatorError(`--${name} must be a date such as 2026-11-01, or a time with a zone.`, UNABLE)
  return time
}
