import { hasEnded } from '../../../projections/runs.ts'
import { MAX_ARCHIVED_RUNS } from '../../../schemas/account-events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Random } from '../../ports/random.ts'
import { BY_KEY, type ViewStore } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../../services/accounts/account-mailboxes.ts'
import { firstRunIdAt } from '../../services/ids.ts'
import type { Reads } from '../../services/views/reads.ts'
import { delay, every } from '../../time/timers.ts'
import { Leases } from '../leases.ts'

/** How often to look. Runs stay for days, so an hour more does not matter. */
const LOOK_MS = 60 * 60 * 1000

/** The deletion of a run's files may be in progress this long before it is due by another clock. */
const DELETION_MS = 60_000

interface Dependencies {
  accounts: Pick<AccountMailboxes, 'execute'>
  reads: Reads
  views: ViewStore
  clock: Clock
  random: Random
  logger: Logger
  /** How long runs stay in the lists after their end. */
  retentionMs: number
  leaseMs?: number | undefined
}

/**
 * Archives runs that ended long ago, a few at a time: each event waits until the views have folded the one before it.
 * The lease only saves effort, since a run that two processes archive is archived once.
 */
export class RunArchiveReactor {
  readonly #dependencies: Dependencies
  readonly #leases: Leases<'runs'>
  #look: Promise<void> | undefined
  #stopLooking = () => {}
  #stopped = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#leases = new Leases(dependencies, 'archive')
  }

  start() {
    this.#leases.start()
    this.#stopLooking = every(this.#dependencies.clock, LOOK_MS, () => this.look())
    this.look()
  }

  async stop() {
    this.#stopped = true
    this.#stopLooking()
    await this.#look
    await this.#leases.stop()
  }

  /** Archives all runs that are due. Never rejects. */
  look(): Promise<void> {
    this.#look ??= this.#archiveAll()
      .catch(err => this.#dependencies.logger.error({ err }, 'ended runs could not leave the lists; retrying'))
      .finally(() => {
        this.#look = undefined
      })
    return this.#look
  }

  async #archiveAll() {
    if (!(await this.#leases.takeLeases(['runs'])).has('runs')) return
    try {
      for await (const { row } of this.#dependencies.reads.scan('accounts', BY_KEY, { prefix: '' }))
        await this.#archiveOf(row.accountId)
    } finally {
      this.#leases.releaseLease('runs')
    }
  }

  async #archiveOf(accountId: AccountId) {
    const { accounts, reads, clock, retentionMs } = this.#dependencies
    const nowMs = clock.nowMs()
    const prefix = `${accountId}/`
    // A run has its ID before it ends.
    const before = prefix + firstRunIdAt(nowMs - retentionMs)
    let after: string | undefined
    while (!this.#stopped) {
      const page = await reads.list('runs', BY_KEY, { prefix, after, before, limit: MAX_ARCHIVED_RUNS })
      const runs = page
        .filter(({ row }) => isOver(row, nowMs - retentionMs) && !isBeingDeleted(row, nowMs))
        .map(({ row: { runId, revisions } }) => ({ runId, revisions: [...revisions] }))
      if (runs.length > 0) {
        await accounts.execute({ kind: 'reactor' }, accountId, { type: 'ArchiveRuns', runs })
        await reads.ownWrites(accountId)
      }
      if (page.length < MAX_ARCHIVED_RUNS) return
      after = page.at(-1)?.place
      // Requests go on in between.
      await delay(clock, 0)
    }
  }
}

const isOver = (row: RunRow, beforeMs: number) =>
  hasEnded(row) && row.completedAt !== undefined && Date.parse(row.completedAt) <= beforeMs

/** The row may lack an event that is being recorded. */
const isBeingDeleted = ({ output, outputDeletedAt }: RunRow, nowMs: number) =>
  output?.willDeleteAt !== undefined &&
  outputDeletedAt === undefined &&
  Date.parse(output.willDeleteAt) <= nowMs + DELETION_MS
