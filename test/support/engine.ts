import type { Test } from 'tap'
import { projections as all } from '../../projections/all.ts'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import { openLmdbViewStore } from '../../src/adapters/view-store/lmdb.ts'
import { authenticViews } from '../../src/engine/views/authentic-views.ts'
import { ProjectionSet } from '../../src/engine/views/project.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { Logger } from '../../src/ports/logger.ts'
import type { RowAddress, StoredViews, ViewStore } from '../../src/ports/view-store.ts'
import { AccountMailboxes } from '../../src/services/accounts/account-mailboxes.ts'
import { PublishedCatalog } from '../../src/services/catalog/published-catalog.ts'
import { Logins } from '../../src/services/sign-in/logins.ts'
import { ManualClock } from './manual-clock.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A real log in a temporary folder, or in the given one. */
export const openLog = async (t: Test, folder?: string): Promise<EventLog> => {
  const log = openLmdbEventLog(folder ?? (await temporaryFolder(t)), error => t.fail(error.message))
  t.teardown(() => log.close())
  return log
}

/** A real view store in a temporary folder, or in the given one. */
export const openStoredViews = async (t: Test, folder?: string): Promise<StoredViews> => {
  const views = openLmdbViewStore(folder ?? (await temporaryFolder(t)))
  t.teardown(() => views.close())
  return views
}

export const projections = new ProjectionSet(all)

/** The rows of a store, authenticated always with the same key. */
export const authentic = (store: StoredViews, onForged: (address: RowAddress) => void = () => undefined): ViewStore =>
  authenticViews({ store, projections, key: Buffer.alloc(32), onForged })

export const openViews = async (t: Test, folder?: string): Promise<ViewStore> =>
  authentic(await openStoredViews(t, folder))

/** For streams that are always folded from the start. */
export const noSnapshots = { load: async () => undefined, offer: async () => false }

export const masterSecret = 'm'.repeat(32)

/** What parts take from outside the program: a time of day that stands still, randomness, and nowhere to log. */
export const ambient = (clock: Clock = new ManualClock()) => ({ clock, random: systemRandom, logger: silentLogger })

export const publishedOn = (log: EventLog, clock?: Clock): PublishedCatalog =>
  new PublishedCatalog({ log, ...ambient(clock) })

/** Account mailboxes without snapshots. */
export const accountsOn = (log: EventLog, clock: Clock = new ManualClock()): AccountMailboxes =>
  new AccountMailboxes({ log, snapshots: noSnapshots, ...ambient(clock) })

/** The streams of identities without snapshots. */
export const loginsOn = (log: EventLog, clock?: Clock): Logins =>
  new Logins({ log, snapshots: noSnapshots, masterSecret, ...ambient(clock) })

export const silentLogger: Logger = {
  isLevelEnabled: () => false,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  fatal: () => undefined,
}
