import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loginStream } from '../../../schemas/events.ts'
import { unkeyedLoginOf } from '../../../src/domain/login/identity.ts'
import { BEFORE_FIRST, type EventLog } from '../../../src/ports/event-log.ts'
import { collect } from '../../support/collect.ts'
import { openLog } from '../../support/engine.ts'
import { copyFixtureLog } from '../../support/fixture-log.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { emailOf, signInOn, WELCOME_MICROS } from '../../support/sign-in.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { unwrap } from '../../support/unwrap.ts'
import { verified } from '../../support/verified.ts'

const ADA = 'ada@example.com'
const operator = { kind: 'operator', name: 'test' } as const

const signIn = async (process: ReturnType<typeof signInOn>, email: string) =>
  unwrap(await process.enter(await process.codeFor(email)))

const balanceOf = async (
  { accounts }: ReturnType<typeof signInOn>,
  { accountId }: Awaited<ReturnType<typeof signIn>>,
) => (await accounts.state(accountId)).balanceMicros

const verifiedLog = async (log: EventLog) => {
  const { faults, notes } = await verified(await collect(log.readAll(BEFORE_FIRST)), { isDense: true })
  return [...faults, ...notes]
}

t.test('the log has no digest that a guessed address would give', async t => {
  const folder = await temporaryFolder(t)
  const log = await openLog(t, folder)
  const process = signInOn(log, new ManualClock())
  await signIn(process, 'ada+tag@example.com')
  await signIn(process, ADA)
  const bytes = await readFile(join(folder, 'data.mdb'))
  for (const email of [ADA, 'ada+tag@example.com']) {
    t.ok(bytes.includes(await process.logins.loginOf(emailOf(email))))
    t.notOk(bytes.includes(unkeyedLoginOf(emailOf(email))))
  }
  t.same(await verifiedLog(log), [])
})

/** A log that Tollgate 0.1.0 wrote, in which Ada has an account. */
const oldLog = async (t: Test) => {
  const log = await openLog(t, join(await copyFixtureLog(t, 1), 'log'))
  return { log, process: signInOn(log, new ManualClock(Date.parse('2026-11-22T16:11:30.000Z'))) }
}

t.test('an identity of an earlier version signs in to its account, in its stream', async t => {
  const { log, process } = await oldLog(t)
  const login = unkeyedLoginOf(emailOf(ADA))
  const [linked] = await collect(log.readStream(loginStream(login), 0))
  const entered = await signIn(process, ADA)
  t.match(linked?.data, { accountId: entered.accountId })
  t.notOk(entered.isNew)
  t.equal(await process.logins.loginOf(emailOf(ADA)), login)
  t.same(await verifiedLog(log), [])
})

t.test('an account of an earlier version leaves no welcome to another spelling of its address', async t => {
  const { log, process } = await oldLog(t)
  t.match(await signIn(process, 'ada+tag@example.com'), { isNew: true, withheld: 'alias' })
  t.match(await signIn(process, 'new@example.com'), { isNew: true, withheld: undefined })
  t.same(await verifiedLog(log), [])
})

t.test('an unlinked identity opens another account, without welcome credits', async t => {
  for (const email of [ADA, 'ada+tag@example.com']) {
    const log = await openLog(t)
    const clock = new ManualClock()
    const process = signInOn(log, clock)
    const first = await signIn(process, email)
    t.equal(await balanceOf(process, first), WELCOME_MICROS)
    const unlink = { type: 'UnlinkLogin', accountId: first.accountId } as const
    t.match(await process.logins.execute(operator, emailOf(email), unlink), { accept: [{ type: 'LoginUnlinked' }] })
    t.match(await process.logins.execute(operator, emailOf(email), unlink), { repeatOf: 'unlinking' })
    const later = signInOn(log, clock)
    const second = await signIn(later, email)
    t.match(second, { isNew: true, withheld: 'alias' })
    t.not(second.accountId, first.accountId)
    t.equal(await balanceOf(later, second), 0)
    t.match(await signIn(later, email), { accountId: second.accountId, isNew: false })
    t.match(await signIn(later, 'ada+other@example.com'), { isNew: true, withheld: 'alias' })
    t.same(await verifiedLog(log), [])
  }
})
