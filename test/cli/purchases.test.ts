import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Purchase } from '../../schemas/api/purchase.ts'
import { picture } from '../support/client.ts'
import { operatorOf } from '../support/operator.ts'
import { pack } from '../support/pack-samples.ts'
import { salesEnvironment } from '../support/sales.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import type { Buyer } from '../support/stripe/checkout-sessions.ts'
import { startStripe } from '../support/stripe/stub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

/** A service that sells credits, its command line, and a function that buys them for another account. */
const start = async (t: Test) => {
  const folder = await temporaryFolder(t)
  const stripe = await startStripe(t)
  const environment = await salesEnvironment(t, stripe)
  const service = await startService(t, { folder, environment, providers: { sandbox: instantProvider } })
  const reports = stripe.sendTo(`${service.url}/callbacks/stripe`)
  const buy = async (body: object, buyer: Buyer = {}) => {
    const customer = await openAccount(service, { credits: 1 })
    const { body: purchase } = await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, ...body })
    const sessionId = /cs_[A-Za-z0-9_]+/.exec(purchase.url as string)?.[0] as string
    await stripe.pay(sessionId, buyer)
    await reports.settled()
    const balance = async () => (await customer.send<{ credits_balance: number }>('/v1/balance')).body.credits_balance
    return { customer, purchase, balance, paymentId: String(stripe.session(sessionId).payment_intent) }
  }
  return { service, stripe, reports, buy, operator: operatorOf(folder, environment), keyless: operatorOf(folder) }
}

t.test('purchases list and show tell what was bought, paid and returned', async t => {
  const { stripe, reports, buy, operator } = await start(t)
  t.equal(await operator.text(t, 'purchases', 'list'), 'There are no purchases.\n')
  const ada = await buy({ pack: 'studio' }, { tax: 1900, taxId: 'IE6388047V' })
  const bob = await buy({ credits: 100 })
  const refund = stripe.refund(ada.paymentId, 1000)
  const failing = stripe.refund(ada.paymentId, 2000)
  await reports.settled()
  stripe.failRefund(failing.id)
  stripe.dispute(bob.paymentId)
  await reports.settled()
  const all = await operator.json<Purchase[]>(t, 'purchases', 'list')
  t.same(all.map(({ id }) => id).sort(), [ada.purchase.id, bob.purchase.id].sort())
  const bobs = await operator.json<Purchase[]>(t, 'purchases', 'list', bob.customer.accountId)
  t.match(bobs, [{ object: 'purchase', id: bob.purchase.id, account_id: bob.customer.accountId, credits: 100 }])
  t.match(
    await operator.text(t, 'purchases', 'list', ada.customer.accountId),
    /^purchase id .*refunded +disputed\npur_\w+ .* paid .* 10000 +119\.00 EUR +10\.00 EUR +–\n$/,
  )
  const text = await operator.text(t, 'purchases', 'show', ada.purchase.id)
  t.match(text, /^pack +studio$/m)
  t.match(text, /^tax +19\.00 EUR$/m)
  t.match(text, /^tax id +given$/m)
  t.match(text, /^begin at once +consented at \S+Z$/m)
  t.match(text, /^withdrawal until +\S+T12:00:00\.000Z$/m)
  t.match(text, new RegExp(`refund ${refund.id} of 10\\.00 EUR at \\S+$`, 'm'))
  t.match(text, new RegExp(`refund ${failing.id} of 20\\.00 EUR at \\S+, failed at \\S+$`, 'm'))
  t.match(await operator.json(t, 'purchases', 'show', bob.purchase.id), {
    claims: [{ kind: 'dispute', amount: '1.25' }],
    payment_id: bob.paymentId,
  })
  t.match(await operator.refused(t, 'purchases', 'show', 'pur_x'), /^There is no such purchase; "tollgate purchases /)
})

t.test('purchases show tells of a withdrawal', async t => {
  const { buy, operator } = await start(t)
  const { purchase, customer } = await buy({ pack: 'starter' })
  t.equal((await customer.post(`/v1/purchases/${purchase.id}/withdrawal`, {})).status, 200)
  const text = await operator.text(t, 'purchases', 'show', purchase.id)
  t.match(text, /^withdrawal +12\.50 EUR at \S+Z$/m)
  t.match(text, /^refunded +12\.50 EUR$/m)
  t.notMatch(text, /^withdrawal until +2/m)
})

t.test('purchases refund withdraws credits, and the service gets the money returned', async t => {
  const { stripe, reports, buy, operator, keyless } = await start(t)
  const { purchase, customer, balance } = await buy({ pack: 'starter' })
  t.equal((await customer.run(picture)).status, 200)
  const { accountId } = customer
  t.match(await operator.json(t, 'accounts', 'find', purchase.id), { account_id: accountId })
  const before = await balance()
  const refund = (...args: string[]) => ['purchases', 'refund', purchase.id, '--reason', 'asked', ...args]
  const text = await operator.text(t, ...refund('--amount', '5'))
  t.match(text, /^amount +5\.00 EUR\ncredits withdrawn +400$/m)
  t.match(text, /asks Stripe for the money .* If the refund fails, the credits come\nback/s)
  const asked = () => stripe.requestsTo('POST /v1/refunds').map(({ body }) => /amount=\d+/.exec(body)?.[0])
  await until('Stripe is asked', () => (asked().length === 1 ? true : undefined))
  t.same(asked(), ['amount=500'])
  await reports.settled()
  t.equal(await balance(), before - 400)
  t.match(await keyless.text(t, ...refund('--amount', '0.10')), /STRIPE_SECRET_KEY is not set here/)
  t.match(await operator.json(t, ...refund()), {
    ...{ purchase_id: purchase.id, account_id: accountId, refund_id: /^ref_/ },
    ...{ amount: '7.28', currency: 'EUR', credits_withdrawn: 582.4 },
  })
  t.match(await operator.refused(t, ...refund('--amount', '1.00')), /^Nothing of this purchase can be refunded here/)
})

t.test('a refund that Stripe cannot make gives the credits back', async t => {
  const { stripe, buy, operator } = await start(t)
  const file = join(await temporaryFolder(t), 'packs.json')
  await writeFile(file, JSON.stringify({ packs: [pack('dinar', { amount: '12.500', currency: 'KWD' })] }))
  await operator.text(t, 'packs', 'publish', file)
  const { purchase, balance } = await until('the pack is for sale', () => buy({ pack: 'dinar' }).catch(() => undefined))
  const refund = ['purchases', 'refund', purchase.id, '--reason', 'asked', '--amount', '0.005']
  t.match(await operator.json(t, ...refund), { amount: '0.005', currency: 'KWD', credits_withdrawn: 0.4 })
  await until('the refund has failed', async () =>
    /failed at/.test(await operator.text(t, 'purchases', 'show', purchase.id)) ? true : undefined,
  )
  t.equal(await balance(), 1001)
  t.same(stripe.requestsTo('POST /v1/refunds'), [])
})

t.test('an amount that is unclear is refused, and withdraws nothing', async t => {
  const { buy, operator } = await start(t)
  const { purchase, balance } = await buy({ pack: 'starter' })
  const before = await balance()
  const refused = (amount: string) =>
    operator.refused(t, 'purchases', 'refund', purchase.id, '--reason', 'asked', '--amount', amount)
  t.match(await refused('1.000'), /^"1\.000" is not clear: an amount in EUR has 2 decimals\. Write it without/)
  for (const amount of ['5.00 EUR', '5,00', '-5', 'all']) t.match(await refused(amount), /is not an amount in EUR: /)
  t.match(await refused('0'), /^At most 12\.50 EUR/)
  t.match(await refused('12.51'), /^At most 12\.50 EUR/)
  t.equal(await balance(), before)
})

t.test('purchases report adds up what was paid, exactly', async t => {
  const { stripe, reports, buy, operator } = await start(t)
  const ada = await buy({ pack: 'starter' }, { tax: 200 })
  await buy({ credits: 250 }, { tax: 50 })
  const bob = await buy({ pack: 'starter' }, { country: 'FR' })
  stripe.refund(ada.paymentId, 10)
  stripe.refund(ada.paymentId, 20)
  stripe.dispute(bob.paymentId)
  await reports.settled()
  t.same(await operator.json(t, 'purchases', 'report', '--by', 'country'), [
    {
      ...{ country: 'DE', currency: 'EUR', purchases: 2, amount: '15.63' },
      ...{ tax: '2.50', refunded: '0.30', disputed: '0.00' },
    },
    {
      ...{ country: 'FR', currency: 'EUR', purchases: 1, amount: '12.50' },
      ...{ tax: '0.00', refunded: '0.00', disputed: '12.50' },
    },
  ])
  const report = (...args: string[]) => operator.text(t, 'purchases', 'report', '--by', 'country', ...args)
  t.match(await report('--from', '2020-01-01'), /^country +currency +purchases .*\nDE +EUR +2 +15\.63 +2\.50 +0\.30 /)
  t.equal(await report('--to', '2020-01-01'), 'Nothing was paid in this period.\n')
  t.match(
    await operator.refused(t, 'purchases', 'report', '--by', 'country', '--from', '2026-13-01'),
    /^--from must be a date/,
  )
  t.match(await operator.refused(t, 'purchases', 'report'), /required option '--by <what>'/)
})
