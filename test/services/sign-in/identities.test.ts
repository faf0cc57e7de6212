import t from 'tap'
import { accountStream, loginStream } from '../../../schemas/events.ts'
import { MAX_IDENTITIES } from '../../../schemas/primitives.ts'
import { FRESH_MS } from '../../../src/domain/account/access.ts'
import { BEFORE_FIRST, type EventLog } from '../../../src/ports/event-log.ts'
import type { Answer } from '../../../src/services/answer.ts'
import type { SessionOwner } from '../../../src/services/caller.ts'
import { collect } from '../../support/collect.ts'
import { loginsOn, openLog } from '../../support/engine.ts'
import { type Fate, faultyLog, unavailable } from '../../support/faulty-log.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { emailOf, signInOn } from '../../support/sign-in.ts'
import { until } from '../../support/until.ts'
import { unwrap } from '../../support/unwrap.ts'

const [ADA, WORK] = ['ada@example.com', 'ada@work.example.com']
const refusal = (code: string, details: object = {}) => ({ refuse: { code, ...details } })

type Process = ReturnType<typeof signInOn>

const signedIn = async (process: Process, email = ADA): Promise<SessionOwner> => {
  const { token } = unwrap(await process.enter(await process.codeFor(email)))
  return unwrap((await process.holders.ownerOf(token)) as Answer<SessionOwner>)
}

/** Requests a code to link an address, and takes it from the mail. */
const linkCode = async ({ identities, network, newMail }: Process, owner: SessionOwner, email = WORK) => {
  const code = newMail(email)
  const { codeId } = unwrap(await identities.requestCode(owner, { email, network: network() }))
  return { email, codeId, code: await code(), network: network() }
}

const typesIn = async (log: EventLog, stream: string): Promise<string[]> =>
  (await collect(log.readStream(stream, 0))).map(({ type }) => type)

const streamOfWork = async (log: EventLog) => loginStream(await loginsOn(log).loginOf(emailOf(WORK)))

t.test('a further address signs in to the account, brings no credits, and opens no other account', async t => {
  const log = await openLog(t)
  const process = signInOn(log, new ManualClock())
  const owner = await signedIn(process)
  t.ok('value' in (await process.identities.enterCode(owner, await linkCode(process, owner))))
  t.same(unwrap(await process.identities.list(owner)), [emailOf(ADA), emailOf(WORK)])
  const entered = unwrap(await process.enter(await process.codeFor(WORK)))
  t.match(entered, { accountId: owner.accountId, isNew: false })
  t.equal((await process.accounts.state(owner.accountId)).balanceMicros, 100_000_000)
  const events = await collect(log.readStream(accountStream(owner.accountId), 0))
  const linked = events.find(({ type }) => type === 'IdentityLinked')
  t.match(linked, { metadata: { actor: { kind: 'session', sessionId: owner.sessionId } } })
})

t.test('the message says what the code is for', async t => {
  const process = signInOn(await openLog(t), new ManualClock())
  const owner = await signedIn(process)
  await linkCode(process, owner)
  t.match(process.mailer.sent.at(-1), { to: WORK, subject: /add this address/, text: /If it is not you/ })
})

t.test('an address of another account is not linked', async t => {
  const process = signInOn(await openLog(t), new ManualClock())
  const owner = await signedIn(process)
  await signedIn(process, WORK)
  t.same(await process.identities.enterCode(owner, await linkCode(process, owner)), refusal('identity_taken'))
  t.same(unwrap(await process.identities.list(owner)), [emailOf(ADA)])
})

t.test('two accounts that link one address at once: it belongs to one of them', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const processes = [signInOn(log, clock), signInOn(log, clock)] as const
  const owners = [await signedIn(processes[0]), await signedIn(processes[1], 'bob@example.com')] as const
  const entries = [await linkCode(processes[0], owners[0]), await linkCode(processes[1], owners[1])] as const
  const outcomes = await Promise.all(
    processes.map((process, index) =>
      process.identities.enterCode(owners[index] as SessionOwner, entries[index] as never),
    ),
  )
  t.equal(outcomes.filter(outcome => 'value' in outcome).length, 1)
  t.match(
    outcomes.find(outcome => 'refuse' in outcome),
    refusal('identity_taken'),
  )
  t.equal((await typesIn(log, await streamOfWork(log))).filter(type => type === 'LoginLinked').length, 1)
})

t.test('an address that an erased account does not list is free', async t => {
  const log = await openLog(t)
  const process = signInOn(log, new ManualClock())
  const { accountId } = await signedIn(process)
  const operator = { kind: 'operator', name: 'test' } as const
  const link = { type: 'LinkLogin', accountId, additional: true } as const
  const others = ['first@example.com', WORK]
  for (const email of others) await loginsOn(log).execute(operator, emailOf(email), link)
  await process.accounts.execute(operator, accountId, { type: 'EraseAccount', reason: 'asked' })

  const owner = await signedIn(process, others[0])
  t.not(owner.accountId, accountId)
  t.equal((await process.accounts.state(owner.accountId)).balanceMicros, 0, 'without welcome credits')
  unwrap(await process.identities.enterCode(owner, await linkCode(process, owner)))
  t.equal((await process.accounts.state(owner.accountId)).identities.length, 2)
})

t.test('a code of one account links nothing to another, and signs nobody in', async t => {
  const process = signInOn(await openLog(t), new ManualClock())
  const [ada, bob] = [await signedIn(process), await signedIn(process, 'bob@example.com')]
  const entry = await linkCode(process, ada)
  t.same(await process.identities.enterCode(bob, entry), refusal('code_not_valid', { reason: 'unknown' }))
  t.same(await process.enter(entry), refusal('code_not_valid', { reason: 'unknown' }))
  t.ok('value' in (await process.identities.enterCode(ada, entry)))
  const signIn = await process.codeFor('carol@example.com')
  t.same(
    await process.identities.enterCode(ada, { ...signIn, network: 'n' }),
    refusal('code_not_valid', { reason: 'unknown' }),
  )
})

t.test('a session needs a fresh code to add an address, and the first address gets it', async t => {
  const clock = new ManualClock()
  const process = signInOn(await openLog(t), clock)
  const owner = await signedIn(process)
  unwrap(await process.identities.enterCode(owner, await linkCode(process, owner)))
  const isTold = () => process.mailer.sent.some(({ to, subject }) => to === ADA && /A way .* was added/.test(subject))
  await until('the first address is told', isTold)
  t.notOk(process.mailer.sent.some(({ to, subject }) => to === WORK && /was added/.test(subject)))
  clock.advance(FRESH_MS)
  const asked = { email: 'third@example.com', network: process.network() }
  t.same(await process.identities.requestCode(owner, asked), refusal('fresh_code_required'))
  t.same(await process.sessions.closeOthers(owner), { value: undefined }, 'there are no others')
  t.same(await process.sessions.checkFresh(owner), refusal('fresh_code_required'))

  const code = process.newMail(ADA)
  const { codeId, email } = unwrap(await process.identities.requestConfirmation(owner, asked))
  t.equal(email, ADA)
  const entry = { email, codeId, code: await code(), network: asked.network }
  t.match(await process.identities.confirm(owner, { ...entry, code: 'BBBB-BBBB' }), refusal('code_wrong'))
  t.match(await process.enter(entry), refusal('code_not_valid'), 'it opens no session')
  t.same(await process.identities.confirm(owner, entry), { value: undefined })
  t.same(await process.sessions.checkFresh(owner), { value: undefined })
  t.ok('value' in (await process.identities.requestCode(owner, asked)))
  t.match(await process.identities.confirm(owner, entry), refusal('code_not_valid', { reason: 'used' }))
})

t.test('sessions are listed with where and when they were opened', async t => {
  const process = signInOn(await openLog(t), new ManualClock())
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const entry = await process.codeFor(ADA)
  const { token } = unwrap(await process.enter({ ...entry, network: '203.0.113.77', userAgent }))
  const first = unwrap((await process.holders.ownerOf(token)) as Answer<SessionOwner>)
  const second = await signedIn(process)
  const listed = unwrap(await process.sessions.list(first))
  t.match(listed, [
    { sessionId: second.sessionId, isOwn: false },
    { sessionId: first.sessionId, isOwn: true, network: '203.0.113.0/24', browser: 'Firefox on Linux' },
  ])
  t.notMatch(JSON.stringify(listed), /203\.0\.113\.77|140/, 'no more than the owner needs')
  t.same(await process.sessions.closeOther(first, 'sess_x'), refusal('session_ended'))
  unwrap(await process.sessions.closeOther(first, second.sessionId))
  t.equal(unwrap(await process.sessions.list(first)).length, 1)
})

t.test('a session that has ended links nothing', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const [process, other] = [signInOn(log, clock), signInOn(log, clock)]
  const owner = await signedIn(process)
  const entry = await linkCode(process, owner)
  await other.sessions.closeAll(owner)
  t.same(await process.identities.enterCode(owner, entry), refusal('session_ended'))
  t.notOk((await typesIn(log, await streamOfWork(log))).includes('LoginLinked'))
})

t.test('an account has at most ten identities', async t => {
  const process = signInOn(await openLog(t), new ManualClock())
  const owner = await signedIn(process)
  for (let count = 1; count < MAX_IDENTITIES; count++) {
    const entry = await linkCode(process, owner, `ada-${count}@example.com`)
    t.ok('value' in (await process.identities.enterCode(owner, entry)))
  }
  const request = { email: WORK, network: 'n' }
  t.same(
    await process.identities.requestCode(owner, request),
    refusal('too_many_identities', { limit: MAX_IDENTITIES }),
  )
})

t.test('addresses that are proved at once do not pass the limit together', async t => {
  const log = await openLog(t)
  const process = signInOn(log, new ManualClock())
  const owner = await signedIn(process)
  const entries = []
  for (let count = 0; count < 2 * MAX_IDENTITIES; count++)
    entries.push(await linkCode(process, owner, `ada-${count}@example.com`))
  const outcomes = await Promise.all(entries.map(entry => process.identities.enterCode(owner, entry)))
  t.equal(outcomes.filter(outcome => 'value' in outcome).length, MAX_IDENTITIES - 1)
  t.equal((await process.accounts.state(owner.accountId)).identities.length, MAX_IDENTITIES)
  const types = (await collect(log.readAll(BEFORE_FIRST))).map(({ type }) => type)
  t.equal(types.filter(type => type === 'LoginLinked').length, MAX_IDENTITIES, 'no other address is taken')
})

t.test('a process that dies between the link and the account is continued by the next sign-in', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const process = signInOn(log, clock)
  const owner = await signedIn(process)
  const entry = await linkCode(process, owner)
  const sound: Fate = append => append()
  const dying = signInOn(faultyLog(log, sound, sound, unavailable), clock)
  await t.rejects(dying.identities.enterCode(owner, entry), { name: 'Unavailable' })
  const next = signInOn(log, clock)
  t.equal((await next.accounts.state(owner.accountId)).identities.length, 1)
  const entered = unwrap(await next.enter(await next.codeFor(WORK)))
  t.equal(entered.accountId, owner.accountId)
  t.same((await next.accounts.state(owner.accountId)).identities, [emailOf(ADA), emailOf(WORK)])
})
