import { accounts } from './accounts.ts'
import { balance } from './balance.ts'
import { catalog } from './catalog.ts'
import { due } from './due.ts'
import { dueObjects } from './due-objects.ts'
import { keys } from './keys.ts'
import type { Projection } from './projection.ts'
import { runs } from './runs.ts'
import { statement } from './statement.ts'
import { uploads } from './uploads.ts'
import { webhooks } from './webhooks.ts'

/**
 * Raised whenever a projection gives other rows for the same log than before: the views are then built anew at the
 * next start.
 */
export const PROJECTIONS_VERSION = 5

/** Every projection. Two may make one view, each the rows of its own keys. */
export const projections: Projection[] = [
  accounts,
  balance,
  catalog,
  due,
  dueObjects,
  keys,
  runs,
  statement,
  uploads,
  webhooks,
]
