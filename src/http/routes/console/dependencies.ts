import type { RegistrationNote } from '../../../console/sign-in/sign-in-page.tsx'
import type { Brand } from '../../../domain/brand.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Logger } from '../../../ports/logger.ts'
import type { Operators } from '../../../services/operator/operators.ts'
import type { RequestLimits } from '../../../services/policies/request-limits.ts'
import type { Presenter } from '../../../services/presenter.ts'
import type { Services } from '../../../services/services.ts'
import type { Client } from '../../../services/sign-in/one-time-codes.ts'
import type { ClientAddress } from '../../connections/client-address.ts'
import type { Context } from '../../context.ts'
import type { ForAnyone, ForOwner } from '../../middleware/pages.ts'
import type { BrowserSessions } from '../../sessions/browser-sessions.ts'
import type { PageStates } from '../../sessions/page-states.ts'
import type { Docs } from './docs-index.ts'
import type { ForOperator } from './operator/for-operator.ts'

export interface ConsoleDependencies {
  services: Services
  present: Presenter
  sessions: BrowserSessions
  requestLimits: Pick<RequestLimits, 'count'>
  publicUrl: () => string
  /** Whether anyone may read the catalog. */
  isPublic: boolean
  registration: RegistrationNote
  /** The folder that mail is written to, if it goes no further. */
  mailFolder: string | undefined
  /** Whether people may sign in with Telegram. */
  hasTelegram: boolean
  brand: Brand
  /** Events are sealed at most so long after the first that no seal covers. */
  sealMinutes: number
  operators: Operators
  /** The origins that files come from and go to, besides the service's own. */
  fileOrigins: readonly string[]
  clientAddress: ClientAddress
  clock: Clock
  logger: Logger
}

/** What the pages of the console share. */
export interface PageDependencies extends ConsoleDependencies {
  forOwner: ForOwner
  /** The same for changes that need a code of the last hour. */
  forFreshOwner: ForOwner
  forOperator: ForOperator
  /** The same for changes of money, access or prices, which need a code of the last hour. */
  forFreshOperator: ForOperator
  forAnyone: ForAnyone
  pageStates: Pick<PageStates, 'ofOwner'>
  clientIn(ctx: Context): Client
  docs: Docs
}
