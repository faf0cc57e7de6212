import type { NoticeSettings } from '../../../schemas/notice-events.ts'
import { mailAddress } from '../../domain/account/notices.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { webhookUrlFault } from '../../domain/http-url.ts'
import { emailIdentity } from '../../domain/login/identity.ts'
import { refuse } from '../../domain/refusal.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { checkAccountId } from '../accounts/find-account.ts'
import { type Answer, answer } from '../answer.ts'
import { type Caller, keyIdOf } from '../caller.ts'

interface Dependencies {
  accounts: AccountMailboxes
  /** Whether the host of a URL is a private or denied IP address, or a local name. */
  refusesUrl(url: string): boolean
}

/** The settings of an account, and its address for mail, if any. */
export interface NoticesInfo extends Omit<NoticeSettings, 'login' | 'identityNumber'> {
  address?: string
}

/** Shows and sets the notices of an account and their destinations. */
export class Notices {
  readonly #dependencies: Dependencies

  /** The URL may contain a secret of the receiver. */
  readonly permissions = { settings: 'settings', set: 'settings' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  async settings(caller: Caller, accountId: string): Promise<Answer<NoticesInfo>> {
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const state = await this.#dependencies.accounts.recentState(checked.value)
    return state.accountId === undefined ? refuse('account_not_found') : answer(infoOf(state))
  }

  /**
   * Replaces the settings. `address` is one of the account's identities. Without it, mail goes to the first identity.
   */
  async set(caller: Caller, accountId: string, { address, ...given }: NoticesInfo): Promise<Answer<NoticesInfo>> {
    const { accounts, refusesUrl } = this.#dependencies
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const identity = address === undefined ? undefined : emailIdentity(address)
    if (address !== undefined && !identity) return refuse('notice_address_unlinked')
    const { url } = given
    if (url !== undefined) {
      const fault = webhookUrlFault(url)
      if (fault) return refuse('webhook_url_invalid', { parameter: 'url', url, fault })
      if (refusesUrl(url)) return refuse('address_not_public', { parameter: 'url' })
    }
    const command = { type: 'SetNotices', keyId: keyIdOf(caller), settings: given, mailTo: identity } as const
    const outcome = await accounts.execute(caller, checked.value, command)
    return 'refuse' in outcome ? outcome : answer(infoOf(await accounts.state(checked.value)))
  }
}

const infoOf = (state: AccountState): NoticesInfo => {
  const { login: _, identityNumber: _number, ...settings } = state.notices
  const address = mailAddress(state)
  return { ...settings, ...(address !== undefined && { address }) }
}
