import type { UsagePart } from '../../projections/usage.ts'
import type { UsageQuery as AskedUsage } from '../../schemas/api/usage.ts'
import type { UsageQuery } from '../services/usage/usage.ts'
import { limitOf } from './list-page.ts'
import { daysOf } from './moment.ts'

/** The usage that a query, or a tool's arguments, ask for. Throws invalid_request for a time at which no day begins. */
export const usageAskedBy = (asked: AskedUsage, part?: string): UsageQuery => ({
  ...daysOf(asked, part),
  groupBy: asked.group_by === undefined ? [] : (asked.group_by.split(',') as UsagePart[]),
  limit: limitOf(asked),
  cursor: asked.cursor,
})
