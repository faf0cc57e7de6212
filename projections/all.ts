import type { AuditorEvent, ReadEvent } from '../schemas/auditor-events.ts'
import type { CatalogEvent } from '../schemas/catalog-events.ts'
import type { LoginEvent } from '../schemas/login-events.ts'
import type { OperatorEvent } from '../schemas/operator-events.ts'
import type { PeriodEvent } from '../schemas/period-events.ts'
import type { ProviderEvent } from '../schemas/provider-events.ts'
import type { RegistrationEvent } from '../schemas/registration-events.ts'
import type { SealEvent } from '../schemas/seal-events.ts'
import { accounts } from './accounts.ts'
import { archivedRuns } from './archived-runs.ts'
import { balance } from './balance.ts'
import type { EventType } from './define.ts'
import { due } from './due.ts'
import { dueKeyExpiries, dueLots, dueMails, dueNotices } from './due-notices.ts'
import { dueObjects } from './due-objects.ts'
import { duePurchases, dueRefunds, dueTopUps } from './due-payments.ts'
import { keys } from './keys.ts'
import { jobLookups, requestLookups } from './lookups.ts'
import type { Projection } from './projection.ts'
import { purchases } from './purchases.ts'
import { runs } from './runs.ts'
import { statement } from './statement.ts'
import { uploads } from './uploads.ts'
import { usage, usageByLabel } from './usage.ts'
import { webhooks } from './webhooks.ts'

const duePayments = [duePurchases, dueRefunds, dueTopUps] as const
const ofDue = [due, dueObjects, dueMails, dueNotices, dueKeyExpiries, dueLots, ...duePayments] as const
const lookups = [requestLookups, jobLookups] as const
const all = [
  accounts,
  archivedRuns,
  balance,
  ...ofDue,
  keys,
  ...lookups,
  purchases,
  runs,
  statement,
  uploads,
  usage,
  usageByLabel,
  webhooks,
] as const

/** Events that concern no view: they are read from their own streams, or change only the account's own state. */
type Unprojected =
  // No view may open a door.
  | (LoginEvent | RegistrationEvent)['type']
  | ('IdentityLinked' | 'SessionOpened' | 'SessionConfirmed' | 'SessionClosed')
  | 'ProviderCostRecorded'
  | 'AccountSuspended'
  | 'AccountResumed'
  | 'TesterSet'
  | 'LimitsSet'
  // The account's own state says what it owes.
  | ('CreditsOwed' | 'CreditsSettled')
  | ('TopUpSet' | 'TopUpRemoved')
  | 'RetentionSet'
  | ('BudgetSet' | 'BudgetRemoved')
  | ('NoticesSet' | 'WebhookSecretRotated' | 'WebhookTestRequested' | 'WebhookTested')
  | (CatalogEvent | SealEvent | PeriodEvent | AuditorEvent | ReadEvent | ProviderEvent | OperatorEvent)['type']

/** The event types that none of the projections handles. */
export type Unhandled<Each extends { on: object }, Type extends string> = Exclude<Type, HandledBy<Each>>
type HandledBy<Each> = Each extends { on: infer On } ? keyof On : never

/** Every projection. A new event type does not compile until a projection handles it or it is listed as unprojected. */
export const projections: [Exclude<Unhandled<(typeof all)[number], EventType>, Unprojected>] extends [never]
  ? readonly Projection[]
  : never = all
