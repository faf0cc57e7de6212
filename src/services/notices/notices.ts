import type { NoticeSettings } from '../../../schemas/notice-events.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { refuse } from '../../domain/refusal.ts'
import { webhookUrlFault } from '../../domain/webhook-url.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { checkAccountId } from '../accounts/find-account.ts'
import { type Answer, answer } from '../answer.ts'
import { type Caller, keyIdOf } from '../caller.ts'

interface Parts {
  accounts: AccountMailboxes
  /** Whether the host of a URL is literally not public. */
  refusesUrl(url: string): boolean
}

/** The settings of an account, and the address that mail goes to, if it has one. */
export interface NoticesInfo extends NoticeSettings {
  address?: string
}

/** Shows and sets what an account is told of, and where. */
export class Notices {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async settings(caller: Caller, accountId: string): Promise<Answer<NoticesInfo>> {
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const state = await this.#parts.accounts.recentState(checked.value)
    return state.accountId === undefined ? refuse('account_not_found') : answer(infoOf(state))
  }

  /** Replaces the settings. */
  async set(caller: Caller, accountId: string, settings: NoticeSettings): Promise<Answer<NoticesInfo>> {
    const { accounts, refusesUrl } = this.#parts
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const { url } = settings
    const fault = url === undefined ? undefined : webhookUrlFault(url)
    if (fault) return refuse('webhook_url_invalid', { parameter: 'url', url: url as string, fault })
    if (url !== undefined && refusesUrl(url)) return refuse('address_not_public', { parameter: 'url' })
    const command = { type: 'SetNotices', keyId: keyIdOf(caller), settings } as const
    const outcome = await accounts.execute(caller, checked.value, command)
    return 'refuse' in outcome ? outcome : answer(infoOf(await accounts.state(checked.value)))
  }
}

const infoOf = ({ notices, identities }: AccountState): NoticesInfo => {
  const email = identities.find(identity => identity.kind === 'email')
  return { ...notices, ...(email?.kind === 'email' && { address: email.address }) }
}
