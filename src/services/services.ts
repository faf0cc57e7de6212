import type { Accounts } from './accounts/accounts.ts'
import type { ApiKeys } from './accounts/api-keys.ts'
import type { Audit } from './auditors/audit.ts'
import type { Auditors } from './auditors/auditors.ts'
import type { Budgets } from './budgets/budgets.ts'
import type { Catalog, Descriptors } from './catalog/catalog.ts'
import type { Samples } from './catalog/samples.ts'
import type { Files } from './files/files.ts'
import type { Charges } from './ledger/charges.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Periods } from './ledger/periods.ts'
import type { Notices } from './notices/notices.ts'
import type { Lookups } from './operator/lookups.ts'
import type { Overview } from './operator/overview.ts'
import type { Prices } from './operator/prices.ts'
import type { Callbacks } from './providers/callbacks.ts'
import type { Routing } from './providers/routing.ts'
import type { PaymentReports } from './purchases/payment-reports.ts'
import type { PriceList } from './purchases/price-list.ts'
import type { PurchaseRefunds } from './purchases/purchase-refunds.ts'
import type { Purchases } from './purchases/purchases.ts'
import type { TopUps } from './purchases/top-ups.ts'
import type { Withdrawals } from './purchases/withdrawals.ts'
import type { Previews } from './runs/previews.ts'
import type { Refunds } from './runs/refunds.ts'
import type { RunCounts } from './runs/run-counts.ts'
import type { RunHistories } from './runs/run-history.ts'
import type { RunSearch } from './runs/run-search.ts'
import type { Runs } from './runs/runs.ts'
import type { Proofs } from './seals/proofs.ts'
import type { Seals } from './seals/seals.ts'
import type { Identities } from './sign-in/identities.ts'
import type { Sessions } from './sign-in/sessions.ts'
import type { SignIn } from './sign-in/sign-in.ts'
import type { Uploads } from './uploads/uploads.ts'
import type { Usage } from './usage/usage.ts'
import type { Positions } from './views/positions.ts'
import type { ViewMaintenance } from './views/view-maintenance.ts'
import type { Deliveries } from './webhooks/deliveries.ts'
import type { WebhookTests } from './webhooks/webhook-tests.ts'
import type { Webhooks } from './webhooks/webhooks.ts'

/**
 * Everything that Tollgate does for its callers, by noun. Every function takes its caller first, and returns a value or
 * a refusal. HTTP routes, MCP tools and commands call only these functions.
 */
export interface Services extends CoreServices {
  runs: Functions<Runs>
  previews: Functions<Previews>
  histories: Functions<RunHistories>
  runCounts: Functions<RunCounts>
  uploads: Functions<Uploads>
  files: Functions<Files>
  samples: Functions<Samples>
  proofs: Functions<Proofs>
  seals: Functions<Seals>
  audit: Functions<Audit>
  callbacks: Functions<Callbacks>
  purchases: Functions<Purchases>
  topUps: Functions<TopUps>
  withdrawals: Functions<Withdrawals>
  paymentReports: Functions<PaymentReports>
  webhookTests: Functions<WebhookTests>
  signIn: Functions<SignIn>
  sessions: Functions<Sessions>
  identities: Functions<Identities>
  overview: Functions<Overview>
  prices: Functions<Prices>
}

/** The services that need only the log and the views. Commands open only these. */
export interface CoreServices {
  accounts: Functions<Accounts>
  keys: Functions<ApiKeys>
  budgets: Functions<Budgets>
  auditors: Functions<Auditors>
  ledger: Functions<Ledger>
  charges: Functions<Charges>
  usage: Functions<Usage>
  catalog: Functions<Catalog>
  priceList: Functions<PriceList>
  purchaseRefunds: Functions<PurchaseRefunds>
  refunds: Functions<Refunds>
  runSearch: Functions<RunSearch>
  webhooks: Functions<Webhooks>
  notices: Functions<Notices>
  deliveries: Functions<Deliveries>
  views: Functions<ViewMaintenance>
  routing: Functions<Routing>
  periods: Functions<Periods>
  positions: Functions<Positions>
  lookups: Functions<Lookups>
  descriptors: Functions<Descriptors>
}

/** The public functions of a class, so that a policy can wrap them. */
export type Functions<Class> = Omit<Class, 'permissions'>
