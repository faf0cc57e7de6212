import type { Identity } from '../../../schemas/identity.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { SessionOwner } from '../caller.ts'

/** Shows and closes the sessions of the account's owner. */
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

  /** The identities that sign in to the account, the one that opened it first. */
  async identities({ accountId }: SessionOwner): Promise<Answer<readonly Identity[]>> {
    return answer((await this.#accounts.shownState(accountId)).identities)
  }
}
