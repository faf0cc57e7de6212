import type { Observable } from 'rxjs'
import { queues } from '../../../projections/due.ts'
import type { ExpiryTask } from '../../../schemas/views.ts'
import type { Changes } from '../../engine/views/view-progress.ts'
import type { AccountMailboxes } from '../../services/accounts/account-mailboxes.ts'
import type { Reads } from '../../services/views/reads.ts'
import { DueLoop, type DueLoopDependencies } from '../due-loop.ts'

/** How often to look. Owners get a notice a week before a key expires. */
const POLL_MS = 5_000

interface Dependencies extends DueLoopDependencies {
  accounts: AccountMailboxes
  reads: Reads
}

/**
 * Raises the notices of keys that expire. It needs no lease: an account that is asked twice by several processes raises
 * the notice once.
 */
export class KeyExpiriesReactor {
  readonly #dependencies: Dependencies
  readonly #loop: DueLoop<ExpiryTask>

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#loop = new DueLoop(dependencies, {
      queues: queues.notices,
      pollMs: POLL_MS,
      takeRows: rows => this.#take(rows),
    })
  }

  start(changes: Observable<Changes>) {
    this.#loop.start(changes)
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** A refused row is older than the account, and leaves with the events that the account has had since. */
  async #take(tasks: ExpiryTask[]): Promise<ExpiryTask[]> {
    const { accounts, reads, logger } = this.#dependencies
    for (const { accountId, keyId } of tasks)
      try {
        await accounts.execute({ kind: 'reactor' }, accountId, { type: 'RaiseKeyExpiry', keyId })
        // The views then no longer show it as due.
        await reads.ownWrites(accountId)
      } catch (err) {
        logger.error({ err, keyId }, 'the notice of an expiring key could not be raised; retrying')
      }
    return []
  }
}
