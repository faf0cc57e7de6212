import { accounts } from './accounts.ts'
import { balance } from './balance.ts'
import { catalog } from './catalog.ts'
import { due } from './due.ts'
import { keys } from './keys.ts'
import type { Projection } from './projection.ts'
import { runs } from './runs.ts'
import { statement } from './statement.ts'
import { webhooks } from './webhooks.ts'

/**
 * Raised whenever a projection gives other rows for the same log than before: the views are then built anew at the
 * next start.
 */
export const PROJECTIONS_VERSION = 3

/** Every projection. */
export const projections: Projection[] = [accounts, balance, catalog, due, keys, runs, statement, webhooks]
