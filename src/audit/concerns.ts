import { accountStream, CATALOG_STREAM } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'

/** Whether a stream belongs to an audit of one account, which also needs the catalog for its prices. */
export const concerns = (stream: string, account: string | undefined): boolean =>
  account === undefined || stream === CATALOG_STREAM || stream === accountStream(account as AccountId)
