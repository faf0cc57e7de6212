import type { Observable } from 'rxjs'
import { queues } from '../../../projections/due.ts'
import type { KeyExpiryTask, LotExpiryTask } from '../../../schemas/views.ts'
import type { AccountCommand } from '../../domain/account/commands.ts'
import type { Changes } from '../../engine/views/view-progress.ts'
import type { AccountMailboxes } from '../../services/accounts/account-mailboxes.ts'
import type { Reads } from '../../services/views/reads.ts'
import { DueLoop, type DueLoopDependencies } from '../due-loop.ts'

/** How often to look. Owners get notices a day before an end or earlier. */
const POLL_MS = 5_000

interface Dependencies extends DueLoopDependencies {
  accounts: AccountMailboxes
  reads: Reads
}

type Task = KeyExpiryTask | LotExpiryTask

/**
 * Raises the notices of keys and credits that expire, and ends the credits. It needs no lease: an account that is asked
 * twice by several processes does it once.
 */
export class ExpiriesReactor {
  readonly #dependencies: Dependencies
  readonly #loop: DueLoop<Task>

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
  async #take(tasks: Task[]): Promise<Task[]> {
    const { accounts, reads, logger } = this.#dependencies
    for (const task of tasks) {
      const { accountId } = task
      try {
        await accounts.execute({ kind: 'reactor' }, accountId, commandOf(task))
        // The views then no longer show it as due.
        await reads.ownWrites(accountId)
      } catch (err) {
        logger.error({ err, accountId }, 'an expiry of the account could not be recorded; retrying')
      }
    }
    return []
  }
}

const commandOf = (task: Task): AccountCommand =>
  task.task === 'expire-lot' ? { type: 'ExpireCredits', lot: task.lot } : { type: 'RaiseKeyExpiry', keyId: task.keyId }
