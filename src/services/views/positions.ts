import type { Position } from '../../../schemas/recorded.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { AccountCaller } from '../caller.ts'
import type { Reads } from './reads.ts'

interface Dependencies {
  log: EventLog
  accounts: AccountMailboxes
  reads: Reads
}

/** Lets a client read in one process its writes in another. */
export class Positions {
  readonly #dependencies: Dependencies

  /** A position says nothing about the account, and every request with a key may carry one. */
  readonly permissions = { wait: 'wait', last: 'wait' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Reads the account's writes up to a position, in any process. Later reads in this process show them. Rejects with
   * Unavailable if the log does not respond.
   */
  async wait({ accountId }: AccountCaller, position: Position): Promise<Answer<undefined>> {
    const { log, accounts, reads } = this.#dependencies
    if (!reads.hasPassed(position) && position > (await log.head())) return refuse('position_unknown')
    await accounts.catchUp(accountId, position)
    return answer(undefined)
  }

  /** The position that covers all writes of this process to the caller's account. */
  async last({ accountId }: AccountCaller): Promise<Answer<Position>> {
    return answer(this.#dependencies.accounts.lastPosition(accountId))
  }
}
