import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { SessionOwner } from '../caller.ts'

/** Closes the sessions of the account's owner. */
export class Sessions {
  readonly #accounts: AccountMailboxes

  constructor(accounts: AccountMailboxes) {
    this.#accounts = accounts
  }

  /** Closes the caller's own session. */
  async close(caller: SessionOwner): Promise<Answer<undefined>> {
    const { accountId, sessionId } = caller
    const closed = await this.#accounts.execute(caller, accountId, { type: 'CloseSession', sessionId })
    return 'refuse' in closed ? closed : answer(undefined)
  }

  /** Closes all sessions of the account, in every process. */
  async closeAll(caller: SessionOwner): Promise<Answer<undefined>> {
    const closed = await this.#accounts.execute(caller, caller.accountId, { type: 'CloseAllSessions' })
    return 'refuse' in closed ? closed : answer(undefined)
  }
}
