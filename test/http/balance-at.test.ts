import t from 'tap'
import { accountStream } from '../../schemas/events.ts'
import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { completeRun, failRun, grantCredits, queueRun, runId, startRun } from '../support/account-samples.ts'
import { caughtUp } from '../support/caught-up.ts'
import { collect } from '../support/collect.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { seededRandom, testSeed } from '../support/seeded-random.ts'
import { openAccount, startService } from '../support/service.ts'
import { unwrap } from '../support/unwrap.ts'

const RUNS = 150
const QUESTIONS = 1000

const clock = new ManualClock()
const service = await startService(t, { clock, environment: { ROLES: 'api,projector' } })
const { accounts, log, services } = service.core
const customer = await openAccount(service, { credits: 5000 })
const operator = { kind: 'operator', name: 'test' } as const
const caller = { kind: 'key', accountId: customer.accountId, keyId: customer.keyId, scope: 'full' } as const

const seed = testSeed()
const random = seededRandom(seed)

/** A life with many events at the same time, and pauses. */
const commands = Array.from({ length: RUNS }, (_, index): AccountCommand[] => [
  queueRun({ run: index + 1 }),
  startRun(index + 1),
  random() < 0.5 ? completeRun(index + 1) : failRun(index + 1),
  ...(random() < 0.2 ? [{ ...grantCredits(3), reference: `r-${index}` } as AccountCommand] : []),
]).flat()
for (const command of commands) {
  clock.advance(Math.floor(random() * 3) * 1000)
  const outcome = await accounts.execute(operator, customer.accountId, command)
  if ('refuse' in outcome) throw new Error(`${command.type}: ${outcome.refuse.code}`)
}
clock.advance(5000)
await caughtUp(service.core)

interface Step {
  revision: number
  at: string
  balanceMicros: number
}

/** Every event with the balance after it, from the log alone. */
const steps: Step[] = []
for (const { revision, data, metadata } of await collect(log.readStream(accountStream(customer.accountId), 0))) {
  const { balanceAfterMicros = steps.at(-1)?.balanceMicros ?? 0 } = data as { balanceAfterMicros?: number }
  steps.push({ revision, at: (metadata as { at: string }).at, balanceMicros: balanceAfterMicros })
}
const [first, last] = [steps[0] as Step, steps.at(-1) as Step]
const balanceWhere = (had: (step: Step) => boolean) => steps.findLast(had)?.balanceMicros ?? 0

t.test(`the balance at ${QUESTIONS} random times and revisions is that of the log (TEST_SEED=${seed})`, async t => {
  const wrong: object[] = []
  const spanMs = Date.parse(last.at) - Date.parse(first.at)
  for (let question = 0; question < QUESTIONS; question++) {
    const revision = Math.floor(random() * steps.length)
    // Half of the times are those of an event.
    const at =
      random() < 0.5 ? (steps[revision] as Step).at : new Date(Date.parse(first.at) + random() * spanMs).toISOString()
    const found = [
      unwrap(await services.ledger.balanceAt(caller, { revision })).balanceMicros,
      unwrap(await services.ledger.balanceAt(caller, { at })).balanceMicros,
    ]
    const expected = [balanceWhere(step => step.revision <= revision), balanceWhere(step => step.at <= at)]
    if (String(found) !== String(expected)) wrong.push({ revision, at, found, expected })
  }
  t.ok(steps.length > 3 * RUNS)
  t.same(wrong, [])
})

t.test('balances before many times are those of the log', async t => {
  const spanMs = Date.parse(last.at) - Date.parse(first.at)
  const times = Array.from({ length: 300 }, () => new Date(Date.parse(first.at) + (random() * 1.1 - 0.05) * spanMs))
  const sorted = [...times.map(time => time.toISOString()), ...steps.slice(0, 50).map(step => step.at)].sort()
  const found = unwrap(await services.ledger.balances(caller, sorted))
  t.same(
    found,
    sorted.map(time => balanceWhere(step => step.at < time)),
  )
  t.same(unwrap(await services.ledger.balances(caller, [])), [])
})

const balanceAt = async (at: string | number) => (await customer.send(`/v1/balance?at=${at}`)).body

t.test('the balance at a moment has the form of the balance', async t => {
  t.same(await balanceAt(0), { object: 'balance', credits_balance: 0 })
  t.same(await balanceAt(1), { object: 'balance', credits_balance: 5000 })
  t.same(await balanceAt('2025-12-31'), { object: 'balance', credits_balance: 0 })
  t.same(await balanceAt(last.revision), await balanceAt(last.at))
  t.equal(
    ((await balanceAt(last.at)) as unknown as { credits_balance: number }).credits_balance,
    await customer.balance(),
  )
})

t.test('a debit is included as soon as its run is queued', async t => {
  const outcome = await accounts.execute(operator, customer.accountId, queueRun({ run: RUNS + 1 }))
  t.ok('accept' in outcome, runId(RUNS + 1))
  const now = new Date(clock.nowMs()).toISOString()
  t.same(await balanceAt(now), { object: 'balance', credits_balance: await customer.balance() })
})

t.test('a moment beyond the end, or a malformed one, is refused with a message that says what is valid', async t => {
  const lastRevision = await accounts.shownRevision(customer.accountId)
  t.equal((await customer.send(`/v1/balance?at=${lastRevision}`)).status, 200)
  const now = new Date(clock.nowMs()).toISOString()
  const ahead = new Date(clock.nowMs() + 1).toISOString()
  const expected: [string, RegExp, RegExp][] = [
    [String(lastRevision + 1), new RegExp(`the revision ${lastRevision}\\.$`), /^must be at most \d+$/],
    [ahead, new RegExp(`in the future: it is ${now}\\.$`), /^must not be in the future$/],
    ['2026-02-30', /^Invalid query: \/at must be a date or time that exists\.$/, /exists$/],
    ['yesterday', /^Invalid query: \/at /, /./],
    ['-1', /^Invalid query: \/at /, /./],
    ['position:3', /^Invalid query: \/at /, /./],
  ]
  for (const [at, message, fault] of expected) {
    const { status, body } = await customer.send(`/v1/balance?at=${at}`)
    t.equal(status, 400, at)
    t.match(body.error, { code: 'invalid_request', message, errors: [{ path: '/at', message: fault }] }, at)
  }
})
