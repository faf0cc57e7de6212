import t from 'tap'
import type { AccountEvent } from '../../schemas/account-events.ts'
import { accountStream } from '../../schemas/events.ts'
import type { Recorded } from '../../schemas/recorded.ts'
import { toMicros } from '../../src/domain/money.ts'
import { collect } from '../support/collect.ts'
import { auditFolder } from '../support/ledger.ts'
import { startMailServer } from '../support/mail-server.ts'
import { hold, startReceiver, status } from '../support/receiver.ts'
import { openAccounts, openFolder } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

// Deliveries of a killed process are made again when their lease ends, after 15 s.
t.setTimeout(180_000)

const operator = { kind: 'operator', name: 'test' } as const

/** Each debit of 10 credits takes the balance from 25 credits under the limit of 20. */
const CROSSINGS = 6

t.test('a service that is killed between a crossing and its delivery raises it once and delivers it', async t => {
  const folder = await temporaryFolder(t)
  const mail = await startMailServer(t)
  const receiver = await startReceiver(t, hold)
  const [customer] = await openAccounts(folder, { credits: 25 })
  const { accountId } = customer
  const core = await openFolder(folder, { environment: { ALLOW_PRIVATE_WEBHOOKS: 'true' } })
  t.teardown(() => core.close())
  const { notices, accounts } = core.services
  const settings = { email: true, url: receiver.url, balanceUnderMicros: toMicros(20) }
  unwrap(await notices.set(operator, accountId, settings))
  const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true', ...mail.environment }
  const eventsOf = async () =>
    (await collect(core.log.readStream(accountStream(accountId), 0))) as Recorded<AccountEvent>[]
  const typed = async (type: string) => (await eventsOf()).filter(event => event.type === type)

  /** A run that was interrupted is refunded; one that has completed is not. Any grant ends the quiet hour. */
  const refill = async (crossing: number) => {
    await until('no run is open', async () => (await core.accounts.currentState(accountId)).openRuns.size === 0)
    const { balanceMicros } = await core.accounts.currentState(accountId)
    const missingMicros = Math.max(toMicros(0.5), toMicros(25) - balanceMicros)
    const grant = { kind: 'courtesy', reason: 'again', reference: `grant-${crossing}` } as const
    unwrap(await accounts.grant(operator, accountId, { ...grant, amountMicros: missingMicros }))
  }

  for (let crossing = 1; crossing <= CROSSINGS; crossing++) {
    const service = await startServiceProcess(t, folder, environment)
    await refill(crossing)
    const run = customer
      .at(service.url)
      .run({ model: 'nano-banana-2', input: { prompt: 'a crossing' } })
      .catch(() => undefined)
    await until('it is raised', async () => (await typed('NoticeRaised')).length === crossing)
    // Some lives end before the attempts, some while they wait for the receiver.
    if (crossing % 2 === 0) await receiver.until(receiver.deliveries.length + 1)
    await service.end('SIGKILL')
    await run
  }

  receiver.answer = status(204)
  const last = await startServiceProcess(t, folder, environment)
  await until('all are delivered', async () => (await typed('NoticeDelivered')).length === 2 * CROSSINGS)
  await last.end('SIGTERM')

  const { faults } = await auditFolder(folder)
  t.same(faults, [])
  const ids = new Set(receiver.deliveries.map(({ headers }) => headers['webhook-id']))
  t.same(
    ids,
    new Set(Array.from({ length: CROSSINGS }, (_, index) => `${accountId.replace('acct_', 'msg_')}_${index + 1}`)),
  )
  t.ok(mail.received.length >= CROSSINGS, `${mail.received.length} mails`)
})
