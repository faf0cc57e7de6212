import type { AccountId, PurchaseId } from '../../schemas/primitives.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import { openCore } from '../../src/boot/core.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { startServer } from '../../src/boot/server.ts'
import { newPurchaseId } from '../../src/services/ids.ts'
import { API_VERSION, signatureOf } from '../../test/support/stripe/events.ts'
import { STRIPE_KEY, WEBHOOK_SECRET } from '../../test/support/stripe/stub.ts'
import { unwrap } from '../../test/support/unwrap.ts'

/**
 * The service with sales. On a message, it makes grants and tells how fast, or opens purchases and returns the signed
 * reports of their payments.
 */
const ACCOUNTS = 50

const caller = { kind: 'operator', name: 'bench' } as const

const config = readConfig({ ...process.env, STRIPE_SECRET_KEY: STRIPE_KEY, STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET })
const core = await openCore(config, { projectorThread: config.projectorThread })
const server = await startServer(core)
const { accounts } = core.services

/** Grants of an account are limited, so each round has its own accounts. */
const openAccounts = () =>
  Promise.all(
    Array.from({ length: ACCOUNTS }, async () => {
      const email = `${systemRandom.uuid()}@localhost`
      return unwrap(await accounts.open(caller, { email, tester: false, welcomeMicros: 0 })).accountId
    }),
  )

const grantAll = async (count: number) => {
  const ids = await openAccounts()
  const startMs = performance.now()
  await Promise.all(
    ids.map(async accountId => {
      for (let index = 0; index < count / ACCOUNTS; index++) {
        const grant = { amountMicros: 1e9, kind: 'purchase', reference: `${index}`, reason: 'bought' } as const
        unwrap(await accounts.grant(caller, accountId, grant))
      }
    }),
  )
  return { operations: count, value: count / ((performance.now() - startMs) / 1000) }
}

const openPurchases = async (count: number) => {
  const ids = await openAccounts()
  const opened = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const accountId = ids[index % ACCOUNTS] as AccountId
      const purchaseId = newPurchaseId(systemRandom)
      const purchase = { purchaseId, creditsMicros: 1e9, amount: '12.50', currency: 'EUR', catalogRevision: 0 }
      const command = { type: 'OpenPurchase', purchase, perHour: Number.POSITIVE_INFINITY } as const
      const outcome = await core.accounts.execute({ kind: 'service' }, accountId, command)
      if ('refuse' in outcome) throw new Error(outcome.refuse.code)
      return reportOf(accountId, purchaseId, index)
    }),
  )
  await core.progress.passed(await core.log.head(), 60_000)
  return opened
}

/** What Stripe sends of a checkout that was paid: https://docs.stripe.com/api/checkout/sessions/object */
const reportOf = (accountId: AccountId, purchaseId: PurchaseId, index: number) => {
  const metadata = { purchase: purchaseId, account: accountId }
  const session = {
    ...{ id: `cs_test_${purchaseId}`, object: 'checkout.session', client_reference_id: purchaseId, metadata },
    ...{ mode: 'payment', status: 'complete', payment_status: 'paid', livemode: false },
    ...{ amount_total: 1250, amount_subtotal: 1250, currency: 'eur', payment_intent: `pi_${purchaseId}` },
    customer_details: { email: 'ada@example.com', address: { country: 'DE', line1: 'Street 1', city: 'Berlin' } },
    total_details: { amount_tax: 200, amount_discount: 0, amount_shipping: 0 },
    ...{ customer: null, invoice: `in_${purchaseId}`, url: null, created: 0, expires_at: 0 },
  }
  const atSeconds = Math.floor(Date.now() / 1000)
  const event = {
    ...{ id: `evt_${index}`, object: 'event', api_version: API_VERSION, created: atSeconds, livemode: false },
    ...{ type: 'checkout.session.completed', data: { object: session }, pending_webhooks: 1, request: null },
  }
  const body = JSON.stringify(event)
  return { body, signature: signatureOf(body, [WEBHOOK_SECRET], atSeconds) }
}

process.on('message', async (message: 'stop' | { grants: number } | { reports: number }) => {
  if (message === 'stop') {
    await server.stop()
    await core.close()
    process.exit(0)
  }
  process.send?.('grants' in message ? await grantAll(message.grants) : await openPurchases(message.reports))
})
process.send?.({ url: server.url.replace('localhost', '127.0.0.1') })
