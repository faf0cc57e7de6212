import t from 'tap'
import { accountStream, loginStream, REGISTRATIONS_STREAM } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { systemRandom } from '../../../src/adapters/random/system.ts'
import { MAX_CODES, MAX_TRIES } from '../../../src/domain/login/login.ts'
import { BEFORE_FIRST, type EventLog } from '../../../src/ports/event-log.ts'
import { register } from '../../../src/services/accounts/registration.ts'
import { KNOWN_MS } from '../../../src/services/sign-in/browser-tokens.ts'
import { SESSION_MS } from '../../../src/services/sign-in/sessions.ts'
import { collect } from '../../support/collect.ts'
import { loginsOn, openLog } from '../../support/engine.ts'
import { type Fate, faultyLog, unavailable } from '../../support/faulty-log.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { anonymous, emailOf, signInOn } from '../../support/sign-in.ts'
import { until } from '../../support/until.ts'
import { unwrap } from '../../support/unwrap.ts'
import { verified } from '../../support/verified.ts'

const ADA = 'ada@example.com'
const refusal = (code: string, details: object = {}) => ({ refuse: { code, ...details } })

const typesIn = async (log: EventLog, stream: string): Promise<string[]> =>
  (await collect(log.readStream(stream, 0))).map(({ type }) => type)

const streamOfAda = async (log: EventLog) => loginStream(await loginsOn(log).loginOf(emailOf(ADA)))

/** All events of the log, counted by type. */
const countsOf = async (log: EventLog): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { type } of await collect(log.readAll(BEFORE_FIRST))) counts[type] = (counts[type] ?? 0) + 1
  return counts
}

t.test('a code opens an account with its credits, and later only signs in', async t => {
  const log = await openLog(t)
  const process = signInOn(log, new ManualClock())
  const { accountId, token, isNew } = unwrap(await process.enter(await process.codeFor(ADA)))
  t.ok(isNew)
  t.same(await process.holders.ownerOf(token), { value: { kind: 'session', ...sessionIn(token) } })
  t.same(await typesIn(log, accountStream(accountId)), ['AccountOpened', 'CreditsGranted', 'SessionOpened'])
  const again = unwrap(await process.enter(await process.codeFor(ADA)))
  t.match(again, { accountId, isNew: false })
  t.not(again.token, token)
  t.same(await typesIn(log, await streamOfAda(log)), [
    ...['LoginCodeRequested', 'LoginCodeTried', 'WelcomeDecided', 'LoginLinked'],
    ...['LoginCodeRequested', 'LoginCodeTried'],
  ])
  t.same(await typesIn(log, REGISTRATIONS_STREAM), ['RegistrationAdmitted'])
})

t.test('the log holds no code', async t => {
  const log = await openLog(t)
  const { code } = await signInOn(log, new ManualClock()).codeFor(ADA)
  t.match(code, /^[B-Z]{4}-[B-Z]{4}$/)
  const text = JSON.stringify(await collect(log.readAll(BEFORE_FIRST)))
  t.notMatch(text, code)
  t.notMatch(text, code.replace('-', ''))
})

t.test('a code may be typed in any case and with blanks, and an address too', async t => {
  const process = signInOn(await openLog(t), new ManualClock())
  const { code, ...requested } = await process.codeFor(ADA)
  const typed = ` ${code.toLowerCase().replace('-', ' ')} `
  t.ok('value' in (await process.enter({ ...requested, email: ' ADA@Example.COM ', code: typed })))
})

t.test('fifty people at once with one identity get one account and one grant', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const processes = [signInOn(log, clock), signInOn(log, clock)]
  const [first] = processes as [ReturnType<typeof signInOn>]
  const codes: Awaited<ReturnType<typeof first.codeFor>>[] = []
  for (let count = 0; count < MAX_CODES; count++) codes.push(await first.codeFor(ADA))
  const entries = Array.from({ length: 50 }, (_, index) => ({
    process: processes[index % 2] as typeof first,
    entry: codes[index % MAX_CODES] as (typeof codes)[0],
  }))
  const outcomes = await Promise.all(entries.map(({ process, entry }) => process.enter(entry)))
  const signedIn = outcomes.flatMap(outcome => ('value' in outcome ? [outcome.value] : []))
  t.equal(signedIn.length, MAX_CODES, 'each code works once')
  t.equal(new Set(signedIn.map(({ accountId }) => accountId)).size, 1)
  t.equal(signedIn.filter(({ isNew }) => isNew).length, 1)
  for (const outcome of outcomes)
    if ('refuse' in outcome) t.same(outcome, refusal('code_not_valid', { reason: 'used' }))
  t.match(await countsOf(log), { AccountOpened: 1, CreditsGranted: 1, LoginLinked: 1, SessionOpened: MAX_CODES })
})

t.test('ten thousand guesses get nowhere, and cost few events', async t => {
  const log = await openLog(t)
  const process = signInOn(log, new ManualClock())
  const { codeId } = await process.codeFor(ADA)
  const guess = () => process.enter({ email: ADA, codeId, code: 'BBBB-BBBB' })
  for (let triesLeft = MAX_TRIES - 1; triesLeft >= 0; triesLeft--)
    t.same(await guess(), refusal('code_wrong', { triesLeft, codes: 1 }))
  for (let round = 0; round < 20; round++) {
    const outcomes = await Promise.all(Array.from({ length: 500 }, guess))
    if (outcomes.some(outcome => !('refuse' in outcome) || outcome.refuse.code !== 'code_not_valid'))
      t.fail('a guess was tried')
  }
  t.equal((await typesIn(log, await streamOfAda(log))).length, 1 + MAX_TRIES)
  // Those who know the code are too late now, and request another one.
  t.ok('value' in (await process.enter(await process.codeFor(ADA))))
})

t.test('the last two codes of a browser are valid, and what is entered is one of them', async t => {
  for (const second of [ADA, 'bob@example.com'])
    for (const entered of [0, 1]) {
      const log = await openLog(t)
      const process = signInOn(log, new ManualClock())
      const [earlier, last] = [await process.codeFor(ADA), await process.codeFor(second)]
      const outcome = await process.enter({ ...last, earlier, code: [earlier, last][entered]?.code ?? '' })
      const { accountId } = unwrap(outcome)
      const email = entered === 0 ? ADA : second
      t.same((await process.accounts.state(accountId)).identities, [emailOf(email)])
      t.match(await countsOf(log), { LoginCodeTried: 1 }, 'the other code keeps its tries')
    }
})

t.test('a process that does not know the newest code yet takes both codes', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const [one, other] = [signInOn(log, clock), signInOn(log, clock)]
  const earlier = await one.codeFor(ADA)
  await one.logins.state(emailOf(ADA))
  const last = await other.codeFor(ADA)
  t.ok('value' in (await one.enter({ ...last, earlier })))
  t.ok('value' in (await one.enter({ ...last, earlier, code: earlier.code })))
})

t.test('wrong tries count against both codes, and the message says what is wrong', async t => {
  const clock = new ManualClock()
  const process = signInOn(await openLog(t), clock)
  const earlier = await process.codeFor(ADA)
  await process.enter({ ...earlier, code: 'BBBB-BBBB' })
  clock.advance(9 * 60_000)
  const last = await process.codeFor(ADA)
  const wrong = { ...last, earlier, code: 'BBBB-BBBB' }
  for (let triesLeft = MAX_TRIES - 1; triesLeft >= 1; triesLeft--)
    t.same(await process.enter(wrong), refusal('code_wrong', { triesLeft, codes: 2 }))
  t.same(
    await process.enter({ ...wrong, code: earlier.code }),
    refusal('code_not_valid', { reason: 'tries' }),
    'one try was before there was another code',
  )
  t.same(await process.enter(wrong), refusal('code_wrong', { triesLeft: 0, codes: 2 }))
  t.same(await process.enter({ ...last, earlier }), refusal('code_not_valid', { reason: 'tries' }))
  const [third, fourth] = [await process.codeFor(ADA), await process.codeFor(ADA)]
  clock.advance(10 * 60_000)
  const late = { ...fourth, earlier: third, code: third.code }
  t.same(await process.enter(late), refusal('code_not_valid', { reason: 'expired' }))
})

t.test('strangers who do not know the id of a code cannot use up its tries', async t => {
  const log = await openLog(t)
  const process = signInOn(log, new ManualClock())
  const entry = await process.codeFor(ADA)
  for (let count = 0; count < 20; count++)
    t.same(
      await process.enter({ ...entry, codeId: crypto.randomUUID() }),
      refusal('code_not_valid', { reason: 'unknown' }),
    )
  t.ok('value' in (await process.enter(entry)))
})

t.test('a code is only for its own address', async t => {
  const process = signInOn(await openLog(t), new ManualClock())
  const entry = await process.codeFor(ADA)
  t.same(await process.enter({ ...entry, email: 'eve@example.com' }), refusal('code_not_valid', { reason: 'unknown' }))
})

t.test('an address gets five codes in an hour, in every process and after a restart', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  for (let count = 0; count < MAX_CODES; count++) await signInOn(log, clock).codeFor(ADA)
  const late = signInOn(log, clock)
  const request = { email: ADA, network: late.network() }
  t.match(await late.signIn.requestCode(anonymous, request), refusal('too_many_codes', { retryAfterMs: 3_600_000 }))
  t.equal((await typesIn(log, await streamOfAda(log))).length, MAX_CODES, 'the refusal is no event')
  clock.advance(3_600_000)
  t.ok('value' in (await late.signIn.requestCode(anonymous, request)))
})

/** A clock whose durations stand still too, so that no share is refilled. */
class StillClock extends ManualClock {
  override readonly monotonicMs = () => 1_000_000
}

/** Asks for codes for new addresses, from each of these networks as often as it gets one. */
const flood = async (process: ReturnType<typeof signInOn>, networks: string[]) => {
  let codes = 0
  const ask = async (network: string): Promise<void> => {
    const email = `${crypto.randomUUID()}@example.com`
    if (unwrap(await process.signIn.requestCode(anonymous, { email, network })).isBusy) return
    codes++
    await ask(network)
  }
  await Promise.all(networks.map(ask))
  return codes
}

/** Networks of different providers. */
const networksOf = (count: number) => Array.from({ length: count }, (_, index) => `${index & 255}.${index >> 8}.0.1`)

t.test('networks share the codes, and those of one person count as one', async t => {
  const log = await openLog(t)
  const process = signInOn(log, new StillClock(), { codesPerMinute: 12 })
  const addresses = Array.from({ length: 200 }, (_, index) => `203.0.113.${index}`)
  const small = Array.from({ length: 200 }, (_, index) => `2001:db8:7:${index.toString(16)}`)
  t.equal(await flood(process, addresses), 6)
  t.equal(await flood(process, small), 6)
  const another = signInOn(await openLog(t), new StillClock(), { codesPerMinute: 12 })
  t.equal(await flood(another, ['unknown']), 6, 'clients without a network are one')
  t.ok((await flood(process, networksOf(200))) <= 120 - 12)
  t.ok(((await countsOf(log))['LoginCodeRequested'] as number) <= 120, 'all networks together are limited')
})

t.test('a flood of many networks leaves codes for new people', async t => {
  const process = signInOn(await openLog(t), new StillClock(), { codesPerMinute: 12 })
  await flood(process, networksOf(60))
  for (let count = 0; count < 10; count++) {
    const entry = await process.codeFor(`new-${count}@example.com`)
    t.ok('value' in (await process.enter(entry)))
  }
})

t.test('all networks of a provider together leave codes for others', async t => {
  const process = signInOn(await openLog(t), new StillClock(), { codesPerMinute: 12 })
  const hex = Array.from({ length: 300 }, (_, index) => index.toString(16))
  t.equal(
    await flood(
      process,
      hex.map(part => `2001:db8:${part}:1`),
    ),
    20,
  )
  t.equal(
    await flood(
      process,
      hex.map((_, index) => `198.51.${index & 255}.7`),
    ),
    17,
  )
})

t.test('naming addresses with an account leaves codes for others with one', async t => {
  const clock = new StillClock()
  const log = await openLog(t)
  const opener = signInOn(log, clock, { codesPerMinute: 100 })
  const owners = Array.from({ length: 12 }, (_, index) => `owner-${index}@example.com`)
  for (const owner of owners) await opener.enter(await opener.codeFor(owner))
  const process = signInOn(log, clock, { codesPerMinute: 2 })
  await flood(process, networksOf(30))
  // Whoever knows one address names it from many networks.
  for (const network of networksOf(30)) await process.signIn.requestCode(anonymous, { email: owners[0] ?? '', network })
  for (const owner of owners.slice(1)) {
    const mail = process.newMail(owner)
    t.ok(unwrap(await process.signIn.requestCode(anonymous, { email: owner, network: '10.0.0.1' })).isBusy)
    t.ok(await mail(), owner)
  }
})

t.test('when strangers have used up all codes, people with an account still get theirs', async t => {
  const log = await openLog(t)
  const clock = new StillClock()
  const opener = signInOn(log, clock)
  const { browser } = unwrap(await opener.enter(await opener.codeFor(ADA)))
  const process = signInOn(log, clock, { codesPerMinute: 1 })
  await flood(process, networksOf(10))
  const ask = (email: string, known?: string) =>
    process.signIn.requestCode(anonymous, { email, network: '10.0.0.1', browser: known })
  const ofNew = unwrap(await ask('new@example.com'))
  t.ok(ofNew.isBusy)
  const wrong = (email: string, codeId: string) => process.enter({ email, codeId, code: 'BBBB-BBBB' })
  const code = process.newMail(ADA)
  const { codeId, isBusy } = unwrap(await ask(ADA))
  const right = await code()
  for (let tries = 0; tries < 4; tries++)
    for (const answer of [await wrong(ADA, codeId), await wrong('new@example.com', ofNew.codeId)])
      t.same(answer, { refuse: { code: 'code_wrong', codes: 1 } }, 'nor does the answer to a wrong code')
  t.ok(isBusy, 'the answer does not tell that there is an account')
  t.ok('value' in (await process.enter({ email: ADA, codeId, code: right })))
  t.notOk(unwrap(await ask(ADA, browser)).isBusy, 'a known browser has room of its own')
  for (const bad of ['', 'x', `${browser.slice(0, -2)}AA`, browser.replace(/\.\d/, '.9')])
    t.ok(unwrap(await ask(ADA, bad)).isBusy, `a forged one has none: ${bad}`)
  await until('the mail is sent', () => process.mailer.sent.length >= 2)
  t.notOk(process.mailer.sent.some(({ to }) => to === 'new@example.com'))
})

t.test('codes of a busy time do not count toward those that strangers can see', async t => {
  const log = await openLog(t)
  const clock = new StillClock()
  const opener = signInOn(log, clock)
  await opener.enter(await opener.codeFor(ADA))
  const process = signInOn(log, clock, { codesPerMinute: 12 })
  await flood(process, ['198.51.100.1'])
  const ask = (network: string) => process.signIn.requestCode(anonymous, { email: ADA, network })
  for (let count = 0; count < MAX_CODES; count++) t.ok(unwrap(await ask('198.51.100.1')).isBusy)
  await until('the codes are made', () => process.mailer.sent.filter(({ to }) => to === ADA).length === MAX_CODES)
  t.notOk(unwrap(await ask('203.0.113.1')).isBusy, 'no 429, as for an address without an account')
})

t.test('a browser is known for half a year', async t => {
  const clock = new StillClock()
  const process = signInOn(await openLog(t), clock, { codesPerMinute: 1 })
  const { browser } = unwrap(await process.enter(await process.codeFor(ADA)))
  await flood(process, networksOf(10))
  const ask = async (email: string) =>
    unwrap(await process.signIn.requestCode(anonymous, { email, network: '10.0.0.1', browser })).isBusy
  clock.advance(KNOWN_MS)
  t.ok(await ask('one@example.com'))
  clock.advance(-1)
  t.notOk(await ask('two@example.com'))
})

t.test('an owner whose address was asked for too often gets a code in a known browser', async t => {
  const process = signInOn(await openLog(t), new StillClock())
  const { browser } = unwrap(await process.enter(await process.codeFor(ADA)))
  const { browser: other } = unwrap(await process.enter(await process.codeFor('bob@example.com')))
  for (let count = 1; count < MAX_CODES; count++) await process.codeFor(ADA)
  const ask = (known?: string) =>
    process.signIn.requestCode(anonymous, { email: ADA, network: process.network(), browser: known })
  t.match(await ask(), refusal('too_many_codes'))
  t.match(await ask(other), refusal('too_many_codes'), 'the browser of somebody else')
  const code = process.newMail(ADA)
  const { codeId } = unwrap(await ask(browser))
  t.ok('value' in (await process.enter({ email: ADA, codeId, code: await code() })))
})

t.test('tries are limited by network, and by account in known browsers', async t => {
  const process = signInOn(await openLog(t), new ManualClock())
  const { browser } = unwrap(await process.enter(await process.codeFor(ADA)))
  const tryFrom = (network: string, known?: string) =>
    process.signIn.enterCode(anonymous, { email: ADA, codeId: 'none', code: 'BBBB-BBBB', network, browser: known })
  for (let count = 0; count < 60; count++) t.match(await tryFrom('one'), refusal('code_not_valid'))
  t.match(await tryFrom('one'), refusal('too_many_sign_ins'))
  t.match(await tryFrom('one', browser), refusal('code_not_valid'))
})

t.test('known and unknown addresses cause the same calls in the same order', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const process = signInOn(log, clock, { rules: { mode: 'closed' } })
  const opener = signInOn(log, clock)
  await opener.enter(await opener.codeFor(ADA))
  const callsOf = async (email: string) => {
    const calls: unknown[] = []
    const watched = new Proxy(log, {
      get: (target, name: keyof EventLog) => {
        const value = target[name]
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          calls.push([name, JSON.stringify(args).length])
          return (value as (...args: unknown[]) => unknown).apply(target, args)
        }
      },
    })
    const one = signInOn(watched, clock, { rules: { mode: 'closed' } })
    const { codeId } = unwrap(await one.signIn.requestCode(anonymous, { email, network: 'one' }))
    t.match(codeId, /^[0-9a-f-]{36}$/)
    t.equal(one.mailer.sent.length, 0, 'nothing is sent before the answer')
    const answered = calls.map(call => (call as [string, number])[0])
    const busy = signInOn(watched, clock, { codesPerMinute: 0 })
    calls.length = 0
    t.ok(unwrap(await busy.signIn.requestCode(anonymous, { email, network: 'one' })).isBusy)
    return [...answered, ...calls.map(call => (call as [string, number])[0])]
  }
  t.same(await callsOf('bob@example.com'), await callsOf(ADA))
  const { codeId } = unwrap(await process.signIn.requestCode(anonymous, { email: 'bob@example.com', network: 'two' }))
  await process.codeFor(ADA)
  t.same(
    process.mailer.sent.map(({ to }) => to),
    [ADA],
    'whoever has no account and may not open one gets no mail',
  )
  t.match(await process.enter({ email: 'bob@example.com', codeId, code: 'BBBB-BBBB' }), refusal('code_wrong'))
})

t.test('registration is open to all, to some domains, to the invited or to nobody', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const mayRegister = async (email: string, rules: object) => {
    const opener = signInOn(log, clock)
    // A code from a time when registration was open.
    const entry = await opener.codeFor(email)
    const outcome = await signInOn(log, clock, { rules }).enter(entry)
    if ('refuse' in outcome) t.equal(outcome.refuse.code, 'registration_closed')
    return 'value' in outcome
  }
  const domains = ['example.com']
  const invite = (email: string) =>
    signInOn(log, clock).logins.execute({ kind: 'service' }, emailOf(email), { type: 'InviteLogin' })
  t.equal(await mayRegister('a@example.org', {}), true)
  t.equal(await mayRegister('b@example.com', { domains }), true)
  t.equal(await mayRegister('b@example.org', { domains }), false)
  t.equal(await mayRegister('b@sub.example.com', { domains }), false)
  t.equal(await mayRegister('b@example.org', { mode: 'invite' }), false)
  await invite('b@example.org')
  t.equal(await mayRegister('b@example.org', { mode: 'closed' }), false)
  t.equal(await mayRegister('b@example.org', { mode: 'invite' }), true)
  await invite('c@example.org')
  t.equal(await mayRegister('c@example.org', { domains }), true)
  t.equal(await mayRegister('a@example.org', { mode: 'closed' }), true, 'an account signs in whatever the rules')
})

t.test('the accounts opened in a day are limited for all processes together', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const register = async (name: string) => {
    const process = signInOn(log, clock, { rules: { maxPerDay: 2 } })
    return process.enter(await process.codeFor(`${name}@example.com`))
  }
  t.ok('value' in (await register('one')))
  t.ok('value' in (await register('two')))
  t.match(await register('three'), refusal('registrations_full', { retryAfterMs: 86_400_000 }))
  t.ok('value' in (await register('one')), 'who has an account signs in')
  clock.advance(86_400_000)
  t.ok('value' in (await register('three')))
})

t.test('one network cannot close registration, and the log does not name it', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const network = '203.0.113.7'
  const register = async (email: string, from: string, rules = {}) => {
    const process = signInOn(log, clock, { rules: { maxPerDay: 20, ...rules } })
    return process.signIn.enterCode(anonymous, { ...(await process.codeFor(email)), network: from })
  }
  t.ok('value' in (await register('one@example.com', network)))
  t.ok('value' in (await register('two@example.com', '203.0.113.8')))
  t.match(await register('three@example.com', '203.0.113.9'), refusal('registrations_full', { network: true }))
  t.ok('value' in (await register('four@example.com', '203.0.112.9')))
  t.ok(
    'value' in (await register('five@example.com', network, { domains: ['example.com'] })),
    'a domain of the operator',
  )
  await signInOn(log, clock).logins.execute({ kind: 'service' }, emailOf('six@example.com'), { type: 'InviteLogin' })
  t.ok('value' in (await register('six@example.com', network)), 'the invited')
  t.ok('value' in (await register('one@example.com', network)), 'who has an account signs in')
  t.notMatch(JSON.stringify(await collect(log.readAll(BEFORE_FIRST))), '203.0.11')
})

t.test(
  'a process that dies at any step of a registration leaves nothing behind that the next cannot finish',
  async t => {
    const steps = ['the try', 'the admission', 'the welcome', 'the link', 'the account', 'the session']
    const sound: Fate = append => append()
    for (const [done, step] of steps.entries())
      await t.test(`before ${step}`, async t => {
        const log = await openLog(t)
        const clock = new ManualClock()
        const entry = await signInOn(log, clock).codeFor(ADA)
        const dying = signInOn(faultyLog(log, ...Array<Fate>(done).fill(sound), unavailable), clock)
        await t.rejects(dying.enter(entry), { name: 'Unavailable' })
        const next = signInOn(log, clock)
        if (done === 0) t.ok('value' in (await next.enter(entry)), 'the code was not used')
        else t.same(await next.enter(entry), refusal('code_not_valid', { reason: 'used' }))
        const { accountId } = unwrap(await next.enter(await next.codeFor(ADA)))
        t.equal((await next.accounts.state(accountId)).balanceMicros, 100_000_000)
        const once = { AccountOpened: 1, CreditsGranted: 1, LoginLinked: 1, RegistrationAdmitted: 1, WelcomeDecided: 1 }
        t.match(await countsOf(log), once)
      })
    await t.test('days later', async t => {
      const log = await openLog(t)
      const clock = new ManualClock()
      const entry = await signInOn(log, clock).codeFor('ada+1@gmail.com')
      const dying = signInOn(faultyLog(log, ...Array<Fate>(3).fill(sound), unavailable), clock)
      await t.rejects(dying.enter(entry), { name: 'Unavailable' })
      // So many days with registrations that the first is forgotten.
      for (let day = 0; day < 5; day++) {
        clock.advance(86_400_000)
        const process = signInOn(log, clock)
        await process.enter(await process.codeFor(`bob-${day}@example.com`))
      }
      const next = signInOn(log, clock)
      t.match(unwrap(await next.enter(await next.codeFor('ada+1@gmail.com'))), { isNew: true, withheld: undefined })
      const events = await collect(log.readStream(REGISTRATIONS_STREAM, 0))
      t.match(events.at(-1)?.data, { welcomeMicros: 100_000_000 }, 'what it had got before is counted again')
    })
  },
)

const ALIASES = ['a.da@gmail.com', 'ada+1@gmail.com', 'ada@googlemail.com', 'a.d.a+2@googlemail.com', 'ada@gmail.com']

t.test('one mailbox gets welcome credits once, whatever its spelling and however many register at once', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const processes = [signInOn(log, clock), signInOn(log, clock)]
  const entries = await Promise.all(
    ALIASES.map(async (email, index) => {
      const process = processes[index % 2] as (typeof processes)[0]
      return { process, entry: await process.codeFor(email) }
    }),
  )
  const outcomes = (await Promise.all(entries.map(({ process, entry }) => process.enter(entry)))).map(unwrap)
  t.equal(new Set(outcomes.map(({ accountId }) => accountId)).size, ALIASES.length, 'each address has its own account')
  t.same(outcomes.map(({ withheld }) => withheld ?? 'granted').sort(), [...Array(4).fill('alias'), 'granted'])
  t.match(await countsOf(log), { AccountOpened: ALIASES.length, CreditsGranted: 1 })
  const late = unwrap((await processes[0]?.enter(await processes[0].codeFor('a.d.a@gmail.com'))) as never)
  t.match(late, { isNew: true, withheld: 'alias' })
  const again = unwrap((await processes[0]?.enter(await processes[0].codeFor('a.d.a@gmail.com'))) as never)
  t.match(again, { isNew: false, withheld: undefined })
  const events = await collect(log.readStream(REGISTRATIONS_STREAM, 0))
  t.match(events.at(-1)?.data, { welcomeMicros: 0, withheld: 'alias' })
})

t.test('another spelling of an address whose account the operator opened gets no welcome credits', async t => {
  const log = await openLog(t)
  const process = signInOn(log, new ManualClock())
  const identity = emailOf('ada@gmail.com')
  const opening = { identity, tester: false, welcomeMicros: 7 }
  await register({ ...process, random: systemRandom }, { kind: 'service' }, opening)
  const alias = unwrap(await process.enter(await process.codeFor('ada+1@gmail.com')))
  t.match(alias, { isNew: true, withheld: 'alias' })
})

t.test('accounts beyond the limits of a day or of a network open without welcome credits', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const registered = async (email: string, network: string, rules: object) => {
    const process = signInOn(log, clock, { rules })
    const entry = { ...(await process.codeFor(email)), network }
    const { accountId, withheld } = unwrap(await process.signIn.enterCode(anonymous, entry))
    return [(await process.accounts.state(accountId)).balanceMicros / 1e6, withheld]
  }
  const perNetwork = { maxWelcomesPerNetwork: 2 }
  t.same(await registered('a@example.com', '203.0.113.1', perNetwork), [100, undefined])
  t.same(await registered('b@example.com', '203.0.113.2', perNetwork), [100, undefined])
  t.same(await registered('c@example.com', '203.0.113.3', perNetwork), [0, 'network'])
  t.same(await registered('d@example.com', '203.0.114.3', perNetwork), [100, undefined])
  t.same(await registered('e@example.com', '2001:db8:1:1', { maxWelcomeMicrosPerDay: 399_000_000 }), [0, 'day'])
  t.same(await registered('f@mailinator.com', '2001:db8:2:1', {}), [0, 'disposable'])
  t.same(await registered('g@sub.mailinator.com', '2001:db8:3:1', {}), [0, 'disposable'])
  t.same(await registered('h@mailinator.com', '2001:db8:4:1', { welcomesDisposable: true }), [100, undefined])
  const { faults } = await verified(await collect(log.readAll(BEFORE_FIRST)), { isDense: true })
  t.same(faults, [])
})

t.test('a withheld welcome stays withheld if the process dies before it opens the account', async t => {
  const steps = { 'the welcome': 2, 'the link': 3, 'the account': 4 }
  for (const [step, done] of Object.entries(steps))
    await t.test(`before ${step}`, async t => {
      const log = await openLog(t)
      const clock = new ManualClock()
      const first = signInOn(log, clock)
      await first.enter(await first.codeFor('ada@gmail.com'))
      const entry = await signInOn(log, clock).codeFor('ada+1@gmail.com')
      const sound: Fate = append => append()
      const dying = signInOn(faultyLog(log, ...Array<Fate>(done).fill(sound), unavailable), clock)
      await t.rejects(dying.enter(entry), { name: 'Unavailable' })
      clock.advance(10 * 86_400_000)
      const next = signInOn(log, clock)
      t.match(unwrap(await next.enter(await next.codeFor('ada+1@gmail.com'))), { isNew: true, withheld: 'alias' })
      t.match(await countsOf(log), { AccountOpened: 2, CreditsGranted: 1 })
    })
})

t.test('signing in again ends the earlier session of the browser, also that of another account', async t => {
  const process = signInOn(await openLog(t), new ManualClock())
  const { holders } = process
  const first = unwrap(await process.enter(await process.codeFor(ADA)))
  const second = unwrap(await process.enter({ ...(await process.codeFor(ADA)), earlierToken: first.token }))
  t.equal(await holders.ownerOf(first.token), undefined)
  const elsewhere = unwrap(await process.enter(await process.codeFor(ADA)))
  const bob = await process.codeFor('bob@example.com')
  const third = unwrap(await process.enter({ ...bob, earlierToken: second.token }))
  t.equal(await holders.ownerOf(second.token), undefined)
  t.ok(await holders.ownerOf(third.token))
  t.ok(await holders.ownerOf(elsewhere.token), 'another browser stays signed in')
  const forged = { ...(await process.codeFor('eve@example.com')), earlierToken: `${third.token.slice(0, -1)}!` }
  t.ok('value' in (await process.enter(forged)))
  t.ok(await holders.ownerOf(third.token), 'a forged token ends no session')
})

t.test('a session ends after 30 days, and a forged or foreign token begins none', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const process = signInOn(log, clock)
  const { token } = unwrap(await process.enter(await process.codeFor(ADA)))
  const { token: other } = unwrap(await process.enter(await process.codeFor('bob@example.com')))
  const [account, session, mac] = token.split('.')
  const [otherAccount, otherSession] = other.split('.')
  for (const forged of [
    ...['', '..', `${account}.${session}`, `${account}.${session}.`, `${account}.${session}.${'A'.repeat(43)}`],
    ...[`${otherAccount}.${session}.${mac}`, `${account}.${otherSession}.${mac}`, token.slice(0, -2), `x${token}`],
    'x'.repeat(10_000),
  ])
    t.equal(await process.holders.ownerOf(forged), undefined, forged.slice(0, 100))
  clock.advance(SESSION_MS - 1)
  t.ok(await process.holders.ownerOf(token))
  clock.advance(1)
  t.equal(await process.holders.ownerOf(token), undefined)
})

const sessionIn = (token: string) => {
  const [accountId, sessionId] = token.split('.')
  return { accountId: accountId as AccountId, sessionId }
}
