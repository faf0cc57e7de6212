import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Balance } from '../../../schemas/api/balance.ts'
import type { Purchase } from '../../../schemas/api/purchase.ts'
import { accountStream } from '../../../schemas/events.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { picture } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { auditLog } from '../../support/ledger.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { pack } from '../../support/pack-samples.ts'
import { startSales } from '../../support/sales.ts'
import { instantProvider, openAccount } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { verified } from '../../support/verified.ts'

const DAY_MS = 24 * 60 * 60 * 1000

t.test('credits expire while 80 runs use them, and the sums add up', async t => {
  const PACKS = join(await temporaryFolder(t), 'packs.json')
  await writeFile(PACKS, JSON.stringify({ packs: [pack('month', { validDays: 30 })] }))
  const clock = new ManualClock(Date.now())
  const environment = { PACKS }
  const service = await startSales(t, { clock, providers: { sandbox: instantProvider }, environment })
  const { stripe, reports, core } = service
  const customer = await openAccount(service, { credits: 55 })
  const { body: purchase } = await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, pack: 'month' })
  stripe.pay(/cs_\w+/.exec(purchase.url as string)?.[0] as string)
  await reports.settled()
  t.equal(await customer.balance(), 1055)

  const balances: number[] = []
  const run = async () => {
    await customer.run(picture)
    balances.push(await customer.balance())
    // In the middle of the runs, the month is over, and two reactors notice.
    if (balances.length === 5) {
      clock.advance(30 * DAY_MS + 1)
      const expire = { type: 'ExpireCredits', lot: 2 } as const
      for (let time = 0; time < 2; time++) core.accounts.execute({ kind: 'reactor' }, customer.accountId, expire)
    }
  }
  // Together they cost less than what was bought, so that something is left to expire.
  await Promise.all(Array.from({ length: 80 }, run))
  await until('the credits are expired', async () => {
    const events = await collect(core.log.readStream(accountStream(customer.accountId), 0))
    return events.some(({ type }) => type === 'CreditsExpired')
  })
  t.ok(balances.every(balance => balance >= 0))
  const events = await collect(core.log.readStream(accountStream(customer.accountId), 0))
  const sumOf = (type: string) =>
    events
      .filter(event => event.type === type)
      .reduce((sum, { data }) => sum + (data as { amountMicros: number }).amountMicros / 1_000_000, 0)
  const expired = sumOf('CreditsExpired')
  // A run that is under way when the month ends takes longer than it may, by that clock, and is refunded.
  const spent = sumOf('CreditsDebited') - sumOf('CreditsRefunded')
  const ends = events.filter(({ type }) => type === 'CreditsExpired')
  t.ok(ends.length <= 1 + events.filter(({ type }) => type === 'CreditsRefunded').length)
  const { body } = await customer.send<Balance>('/v1/balance')
  t.equal(body.credits_balance, 1055 - expired - spent, JSON.stringify({ expired, spent }))
  t.ok(body.credits_balance <= 55, 'nothing is left of the purchase')
  t.ok(expired > 0 && expired < 1000, `${expired} credits expired in the middle`)
  // Whatever was expired cannot be refunded, nor owed.
  stripe.dispute(String(stripe.store.all('payment_intent')[0]?.id))
  await reports.settled()
  t.match((await customer.send<Balance>('/v1/balance')).body, {
    credits_balance: body.credits_balance,
    ...(expired < 1000 && { credits_owed: 1000 - expired }),
  })
  t.same((await auditLog(core.log)).faults, [])
  t.same((await verified(await collect(core.log.readAll(BEFORE_FIRST)), { isDense: true })).faults, [])
})
