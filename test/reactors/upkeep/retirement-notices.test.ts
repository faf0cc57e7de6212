import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { Damaged } from '../../../src/ports/faults.ts'
import { RetirementNoticesReactor } from '../../../src/reactors/upkeep/retirement-notices.ts'
import { Retirements } from '../../../src/services/catalog/retirements.ts'
import { caughtUp } from '../../support/caught-up.ts'
import { collect } from '../../support/collect.ts'
import { silentLogger } from '../../support/engine.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { startReceiver } from '../../support/receiver.ts'
import { retiring, retiringBindings } from '../../support/retiring.ts'
import { type Customer, instantProvider, openAccount, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { offer } from '../../support/vendor-families.ts'
import { verified } from '../../support/verified.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const RETIRES_AT = '2027-03-01T00:00:00.000Z'

t.test('those who use a model are told 30, 7 and 1 days before it retires', async t => {
  const [mail, receiver] = [await startMailServer(t), await startReceiver(t)]
  const clock = new ManualClock(Date.parse(RETIRES_AT) - 40 * DAY_MS)
  const service = await startService(t, {
    ...{ clock, environment: { ALLOW_PRIVATE_WEBHOOKS: 'true', ...mail.environment } },
    ...{ providers: { vendor: instantProvider }, bindingsOf: retiringBindings('vendor', RETIRES_AT.slice(0, 10)) },
  })
  const { core } = service
  await offer(core, ...retiring)
  const open = () => openAccount(service)
  const [user, other, early, quiet] = [await open(), await open(), await open(), await open()]
  const run = (by: Customer, model: string) => by.run({ model, input: { prompt: 'hello' } })
  const put = (by: Customer, body: object) => {
    const headers = { 'Content-Type': 'application/json' }
    return by.send('/v1/notices', { method: 'PUT', headers, body: JSON.stringify(body) })
  }
  const raisedOf = async ({ accountId }: Customer) =>
    ((await collect(core.log.readStream(accountStream(accountId), 0))) as Recorded<AccountEvent>[]).flatMap(event =>
      event.type === 'NoticeRaised' ? [event.data.notice] : [],
    )
  const retirements = new Retirements({
    offers: core.offers,
    supplyOf: id => (id.startsWith('lumen') ? { retiresAt: RETIRES_AT } : {}),
  })
  const parts = { ...core, retirements, clock }
  const reactor = new RetirementNoticesReactor(parts)
  const withDamaged = ({ accountId: damaged }: Customer) =>
    new RetirementNoticesReactor({
      ...{ ...parts, logger: silentLogger },
      accounts: {
        execute: (caller, accountId, ...rest) =>
          accountId === damaged
            ? Promise.reject(new Damaged('the account is damaged'))
            : core.accounts.execute(caller, accountId, ...rest),
      },
    })
  /** Looks this many days before the end, also in a process that has asked nobody yet. */
  const lookAt = async (days: number) => {
    clock.advance(Date.parse(RETIRES_AT) - days * DAY_MS - clock.nowMs())
    for (const each of [reactor, reactor, new RetirementNoticesReactor(parts)]) {
      await caughtUp(core)
      await each.look()
    }
  }

  await put(user, { url: receiver.url })
  for (const by of [other, early]) await put(by, {})
  await put(quiet, { email: false })
  t.equal((await run(early, 'lumen')).status, 200)
  await lookAt(31)
  for (const by of [user, quiet]) await run(by, 'lumen')
  await run(other, 'beacon')
  await lookAt(30.1)
  t.same(await raisedOf(user), [])
  clock.advance(Date.parse(RETIRES_AT) - 30 * DAY_MS - clock.nowMs())
  await caughtUp(core)
  await withDamaged(user).look()
  t.same([(await raisedOf(user)).length, (await raisedOf(early)).length], [0, 1], 'a damaged account delays no other')
  await lookAt(30)
  await lookAt(20)
  await run(user, 'lumen-i2i')
  for (const days of [7, 6, 1, 0.5, 0]) await lookAt(days)

  const notice = {
    ...{ kind: 'model_retiring', model: 'lumen', endpoints: ['lumen-t2i', 'lumen-i2i'], retiresAt: RETIRES_AT },
    replacedBy: 'beacon',
  }
  t.same(
    await raisedOf(user),
    [30, 7, 1].map(days => ({ ...notice, days })),
  )
  // It used the model 40 days before the end, and not since.
  t.same(await raisedOf(early), [{ ...notice, days: 30 }])
  t.same([await raisedOf(other), await raisedOf(quiet)], [[], []])

  await receiver.until(3)
  const { kind: _, retiresAt, replacedBy, ...data } = notice
  const event = JSON.parse(receiver.deliveries[0]?.body ?? '')
  t.match(event, { type: 'model.retiring', data: { ...data, retires_at: retiresAt, replaced_by: replacedBy } })
  await until('the mails are there', () => mail.received.length === 4)
  t.match(mail.received[0]?.text, /Subject: The model lumen retires soon/)
  t.match(
    mail.received[0]?.text,
    /It retires at 2027-03-01 00:00 UTC\. After that, runs of these endpoints are=?\s+refused:/,
  )
  t.match(mail.received[0]?.text, /To continue, use beacon instead\./)
  t.same((await verified(await collect(core.log.readAll(-1)), { isDense: true })).faults, [])
})

t.test('a service looks a minute after its start', async t => {
  const inMinute: (() => void)[] = []
  const timer: Clock['timer'] = (ms, action) => {
    if (ms === 60_000) inMinute.push(action)
    return systemClock.timer(ms, action)
  }
  const clock = Object.assign(new ManualClock(Date.parse(RETIRES_AT) - 5 * DAY_MS), { timer })
  const bindingsOf = retiringBindings('vendor', RETIRES_AT.slice(0, 10))
  const service = await startService(t, { clock, providers: { vendor: instantProvider }, bindingsOf })
  await offer(service.core, ...retiring)
  const customer = await openAccount(service)
  const headers = { 'Content-Type': 'application/json' }
  await customer.send('/v1/notices', { method: 'PUT', headers, body: '{}' })
  await customer.run({ model: 'lumen', input: { prompt: 'hello' } })
  await caughtUp(service.core)
  for (const action of inMinute) action()
  await until('the notice', async () => {
    const events = await collect(service.core.log.readStream(accountStream(customer.accountId), 0))
    return events.some(({ type }) => type === 'NoticeRaised')
  })
})
