import { BUDGET_PERIODS, type BudgetPeriod, type KeyLimits } from '../../../schemas/account-events.ts'
import { MAX_KEY_ADDRESSES, MAX_KEY_MODELS } from '../../../schemas/primitives.ts'
import { parseTime } from '../../audit/as-of.ts'
import { parseCredits } from '../arguments.ts'
import { OperatorError } from '../operator-error.ts'

interface LimitOptions {
  expires?: string
  budget?: string
  models?: string
  addresses?: string
}

/** The limits of a new key from the options of a command. Throws OperatorError for one that is malformed. */
export const parseKeyLimits = ({ expires, budget, models, addresses }: LimitOptions): KeyLimits => ({
  ...(expires !== undefined && { expiresAt: parseExpiry(expires) }),
  ...(budget !== undefined && { budget: parseBudget(budget) }),
  ...(models !== undefined && { models: parseList('models', models, MAX_KEY_MODELS) }),
  ...(addresses !== undefined && { addresses: parseList('addresses', addresses, MAX_KEY_ADDRESSES) }),
})

const parseExpiry = (text: string): string => {
  const time = parseTime(text)
  if (time === undefined)
    throw new OperatorError(`${JSON.stringify(text)} is not a date or time: write 2027-01-01, or 2027-01-01T18:00:00Z.`)
  return time
}

const parseBudget = (text: string): NonNullable<KeyLimits['budget']> => {
  const [amount = '', period = '', ...rest] = text.split('/')
  if (!isPeriod(period) || rest.length > 0)
    throw new OperatorError(
      `${JSON.stringify(text)} is not a budget: write credits and ${BUDGET_PERIODS.join(', ')}, such as 50/month.`,
    )
  return { amountMicros: parseCredits(amount, { least: 1 }), period }
}

const isPeriod = (text: string): text is BudgetPeriod => (BUDGET_PERIODS as readonly string[]).includes(text)

const parseList = (what: string, text: string, limit: number): string[] => {
  const items = text.split(',').map(item => item.trim())
  if (items.length > limit) throw new OperatorError(`A key can be restricted to at most ${limit} ${what}.`)
  return items
}
