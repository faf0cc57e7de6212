import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import type { CheckPurchaseTask, RefundTask, TopUpTask } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'
import { byQueue, queues } from './due.ts'

/** How long a purchase waits for a report, and a payment for its fee, before the payment service is asked. */
const CHECK_AFTER_MS = 60 * 60 * 1000

/** The purchases of which nothing was reported so far, and the payments whose fee is unknown. */
export const duePurchases = projection({
  name: 'due-purchases',
  view: 'due',
  version: 2,
  key: event => event.data.purchaseId,
  on: {
    // The task of a top-up charges it.
    PurchaseOpened: (_, event) => (event.data.methodOf ? undefined : checkOf(event)),
    PurchasePaid: (_, event) =>
      Number(event.data.amount) > 0 ? { ...checkOf(event), paidAt: clockOf(event) } : undefined,
    FeeCharged: () => undefined,
    PurchaseClosed: () => undefined,
  },
  indexes: { byQueue },
})

const checkOf = (event: RecordedOf<'PurchaseOpened' | 'PurchasePaid'>): CheckPurchaseTask => ({
  task: 'check-purchase',
  queue: `${queues.payments}purchases`,
  dueAt: new Date(Date.parse(clockOf(event)) + CHECK_AFTER_MS).toISOString(),
  accountId: accountOf(event),
  purchaseId: event.data.purchaseId,
})

/** The refunds that the payment service does not know yet. */
export const dueRefunds = projection({
  name: 'due-refunds',
  view: 'due',
  version: 1,
  key: event => `refund/${accountOf(event)}/${event.data.claimId}`,
  on: {
    RefundRequested: (_, event): RefundTask => ({
      task: 'refund-payment',
      queue: `${queues.payments}refunds`,
      dueAt: clockOf(event),
      accountId: accountOf(event),
      purchaseId: event.data.purchaseId,
      claimId: event.data.claimId,
    }),
    RefundAccepted: () => undefined,
    RefundFailed: () => undefined,
  },
  indexes: { byQueue },
})

/** The top-ups that are due or under way, at most one for each account. */
export const dueTopUps = projection({
  name: 'due-top-ups',
  view: 'due',
  version: 1,
  key: event => `top-up/${accountOf(event)}`,
  on: {
    TopUpDue: (_, event): TopUpTask => ({
      task: 'top-up',
      queue: `${queues.payments}top-ups`,
      dueAt: event.data.at,
      accountId: accountOf(event),
    }),
    TopUpSettled: () => undefined,
  },
  indexes: { byQueue },
})
