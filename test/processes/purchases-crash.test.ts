import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Balance } from '../../schemas/api/balance.ts'
import type { Purchase } from '../../schemas/api/purchase.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { collect } from '../support/collect.ts'
import { auditFolder } from '../support/ledger.ts'
import { operatorOf } from '../support/operator.ts'
import { salesEnvironment } from '../support/sales.ts'
import { seededRandom, testSeed } from '../support/seeded-random.ts'
import { freePorts } from '../support/server-program.ts'
import { type Customer, openAccounts, openFolder } from '../support/service.ts'
import { ServiceProcess } from '../support/service-process.ts'
import type { StubEvent } from '../support/stripe/events.ts'
import { startStripe, WEBHOOK_SECRET } from '../support/stripe/stub.ts'
import { WebhookSender } from '../support/stripe/webhook-sender.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

t.setTimeout(280_000)

const PURCHASES = isLong ? 334 : 30
const KILLS = isLong ? 12 : 3
const ACCOUNTS = isLong ? 8 : 3
const WORKERS = 6

/** How often Stripe sends each event, and the latest time. */
const TIMES = 3
const LATEST_MS = 1500

const CREDITS = { starter: 1000, studio: 10_500, custom: 250 }

const seed = testSeed()

/** One of the two processes, at an address that stays. */
class Member {
  readonly url: string
  readonly reports: WebhookSender
  readonly #start: () => ServiceProcess
  #process: ServiceProcess

  constructor(start: () => ServiceProcess, port: number) {
    this.url = `http://127.0.0.1:${port}`
    this.reports = new WebhookSender(`${this.url}/callbacks/stripe`, WEBHOOK_SECRET)
    this.#start = start
    this.#process = start()
  }

  listening() {
    return this.#process.listening()
  }

  end(signal: NodeJS.Signals) {
    return this.#process.end(signal)
  }

  async crash() {
    await this.end('SIGKILL')
    this.#process = this.#start()
    await this.listening()
  }
}

const startMembers = async (t: Test, folder: string, environment: Record<string, string>): Promise<Member[]> => {
  const ports = await freePorts('127.0.0.1', 2)
  const members = ports.map(
    port => new Member(() => new ServiceProcess(folder, { ...environment, PORT: String(port) }), port),
  )
  for (const member of members) t.teardown(() => member.end('SIGKILL'))
  await Promise.all(members.map(member => member.listening()))
  return members
}

t.test(`payments are granted once, whatever is repeated and whoever is killed (TEST_SEED=${seed})`, async t => {
  const random = seededRandom(seed)
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
  const stripe = await startStripe(t)
  const environment = { ...(await salesEnvironment(t, stripe)), PURCHASES_PER_HOUR: '100' }
  const folder = await temporaryFolder(t)
  const options = Array.from({ length: ACCOUNTS }, () => ({ credits: 1 }))
  const customers: Customer[] = await openAccounts({ folder, environment }, ...options)
  const members = await startMembers(t, folder, environment)
  const counts = { kills: 0, opened: 0, unanswered: 0, refused: 0 }

  /** As Stripe does, until the service says that it has the event. Another attempt may meet the other process. */
  const deliver = async (event: StubEvent) => {
    await delay(random() * LATEST_MS)
    await until(
      'the event is taken',
      async () => {
        const status = await pick(members).reports.post(event)
        if (status === undefined) counts.unanswered += 1
        else if (status >= 500) counts.refused += 1
        return status === 204
      },
      { pollMs: 100 },
    )
  }

  const deliveries: Promise<void>[] = []
  let told = 0
  /** Sends what has happened at Stripe. Later copies overtake earlier events. */
  const tell = () => {
    for (const event of stripe.events.slice(told))
      for (let time = 0; time < TIMES; time++) deliveries.push(deliver(event))
    told = stripe.events.length
  }

  const open = (customer: Customer): Promise<Purchase> => {
    const wanted = pick([{ pack: 'starter' }, { pack: 'studio' }, { credits: CREDITS.custom }])
    return until(
      'a purchase is opened',
      async () => {
        const reply = await customer
          .at(pick(members).url)
          .post<Purchase>('/v1/purchases', { begin_at_once: true, ...wanted })
          .catch(() => undefined)
        return reply?.status === 200 && reply.body
      },
      { pollMs: 50 },
    )
  }

  const returning: Promise<void>[] = []
  /** The customer comes back from paying, and reloads the page until the credits are there. */
  const comeBack = async (customer: Customer, { id }: Purchase) => {
    await until(
      `purchase ${id} is paid`,
      async () => {
        const { url } = pick(members)
        const reply = await customer
          .at(url)
          .send<Purchase>(`/v1/purchases/${id}`)
          .catch(() => undefined)
        return reply?.body.status === 'paid'
      },
      { pollMs: 200 },
    )
  }

  const work = async () => {
    while (counts.opened < PURCHASES) {
      const number = counts.opened++
      // Each kill meets purchases under way.
      await until('the next process is killed', () => counts.kills >= Math.floor((number / PURCHASES) * KILLS))
      const customer = pick(customers)
      const purchase = await open(customer)
      await delay(random() * 100)
      stripe.pay(/cs_\w+/.exec(purchase.url as string)?.[0] as string, { country: pick(['DE', 'FR', 'US']) })
      tell()
      if (random() < 0.7) returning.push(comeBack(customer, purchase))
    }
  }

  const kill = async () => {
    while (counts.kills < KILLS) {
      await delay(100 + random() * 900)
      const crashing = pick(members).crash()
      counts.kills += 1
      await crashing
    }
  }

  await Promise.all([kill(), ...Array.from({ length: WORKERS }, work)])
  // Pages of purchases whose process was killed before it had answered. Nobody knows their address, but they are paid.
  for (const session of stripe.store.all('checkout.session')) if (session.status === 'open') stripe.pay(session.id)
  tell()
  await Promise.all([...deliveries, ...returning])

  const sessions = stripe.store.all('checkout.session')
  const soldTo = (accountId: string) =>
    sessions
      .filter(({ metadata }) => metadata?.['account'] === accountId)
      .map(({ amount_total: amount }) =>
        amount === 1250 ? CREDITS.starter : amount === 11_900 ? CREDITS.studio : CREDITS.custom,
      )
      .reduce((sum, credits) => sum + credits, 0)
  for (const customer of customers)
    for (const { url } of members) {
      const { body } = await customer.at(url).send<Balance>('/v1/balance')
      t.equal(body.credits_balance, 1 + soldTo(customer.accountId), 'the balance is what was bought')
    }
  for (const member of members) t.match(await member.end('SIGTERM'), { code: 0 })

  const core = await openFolder(folder, { environment })
  const events = await collect(core.log.readAll(BEFORE_FIRST))
  await core.close()
  const paymentsIn = (type: string, field: 'paymentId' | 'reference') =>
    events
      .filter(event => event.type === type)
      .map(({ data }) => data as Record<string, string>)
      .filter(({ kind }) => kind === undefined || kind === 'purchase')
      .map(data => data[field])
      .toSorted()
  const payments = sessions.map(session => String(session.payment_intent)).toSorted()
  t.ok(payments.length >= PURCHASES)
  t.same(paymentsIn('PurchasePaid', 'paymentId'), payments, 'each payment is recorded once')
  t.same(paymentsIn('CreditsGranted', 'reference'), payments, 'each payment is granted once')
  t.same((await auditFolder(folder, environment)).faults, [])
  t.match(await operatorOf(folder, environment).run('audit', 'verify'), { code: 0 })
  // The test means something only if the service was down for some reports.
  t.ok(counts.unanswered > 0, JSON.stringify(counts))
})
