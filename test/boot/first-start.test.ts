import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { accountStream } from '../../schemas/events.ts'
import type { KeyRow } from '../../schemas/views.ts'
import type { Core } from '../../src/boot/core.ts'
import { welcome } from '../../src/boot/first-start.ts'
import { sha256 } from '../../src/domain/digest.ts'
import { Reads } from '../../src/engine/views/reads.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { caughtUp } from '../support/caught-up.ts'
import { collect } from '../support/collect.ts'
import { openFolder, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const caller = { kind: 'operator', name: 'test' } as const

const open = async (t: Test): Promise<Core> => {
  const core = await openFolder(await temporaryFolder(t))
  t.teardown(() => core.close())
  return core
}

/** Starts `times` processes at once and returns the view rows of each key at the moment it is shown. */
const showWelcome = async (t: Test, core: Core, times = 1) => {
  const shown: unknown[] = []
  t.intercept(console, 'log', {
    value: (text: string) => {
      for (const key of new Set(text.match(/tg_sk_live_[0-9a-f]{32}/g))) shown.push(core.reads.get('keys', sha256(key)))
    },
  })
  await Promise.all(Array.from({ length: times }, () => welcome(core, 'http://localhost')))
  return Promise.all(shown)
}

t.test('the first key works as soon as it is shown', async t => {
  t.match(await showWelcome(t, await open(t)), [{ name: 'first' }])
})

t.test('the first key is shown even if the views lag', async t => {
  const value = () => Promise.reject(new Unavailable('the views are behind the log'))
  t.intercept(Reads.prototype, 'ownWrites', { value })
  t.equal((await showWelcome(t, await open(t))).length, 1)
})

t.test('of several processes that start at once, one shows the welcome', async t => {
  t.equal((await showWelcome(t, await open(t), 3)).length, 1)
})

t.test('an account is opened with its key in one append', async t => {
  const core = await open(t)
  const [{ accountId }] = (await showWelcome(t, core)) as [KeyRow]
  const events = await collect(core.log.readStream(accountStream(accountId), 0))
  t.same(
    events.map(({ type }) => type),
    ['AccountOpened', 'CreditsGranted', 'CreditsGranted', 'ApiKeyCreated'],
  )
  t.match(events[0], { data: { notices: { email: true, balanceUnderMicros: 10_000_000 } } })
  t.match(
    events.slice(1, 3).map(({ data }) => data),
    [
      { kind: 'welcome', amountMicros: 100_000_000, balanceAfterMicros: 100_000_000 },
      {
        ...{ kind: 'courtesy', reference: 'first-start', reason: 'first start: credits to try the service with' },
        ...{ amountMicros: 10_000_000_000, balanceAfterMicros: 10_100_000_000 },
      },
    ],
  )
})

t.test('the owner of the first account signs in as the welcome says', async t => {
  const service = await startService(t)
  let text = ''
  t.intercept(console, 'log', {
    value: (line: string) => {
      text += line
    },
  })
  await welcome(service.core, service.url)
  t.match(text, 'An account with 10,100 credits is open')
  const {
    page = '',
    email = '',
    folder = '',
  } = /sign in to this account at (?<page>\S+)\s+with the address (?<email>\S+)\. .* newest file in (?<folder>\S+)\./.exec(
    text,
  )?.groups ?? {}
  t.equal(page, `${service.url}/console/sign-in`)
  const { mail } = service.core.config
  t.equal(folder, mail.kind === 'outbox' && mail.folder)
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, email)
  const settings = await browser.get('/console/settings')
  t.match(settings.text, /Signed in as <strong[^>]*>owner@localhost<\/strong>/)
  t.match(settings.text, 'Balance<strong>10,100<')
})

t.test('the link in the welcome signs in once, after a click', async t => {
  const service = await startService(t)
  let text = ''
  t.intercept(console, 'log', {
    value: (line: string) => {
      text += line
    },
  })
  await welcome(service.core, service.url)
  const link = /\s(http\S+\/console\/sign-in\/first\S+)\s/.exec(text)?.[1] ?? ''
  const path = link.replace(service.url, '')
  const [browser, other] = [new BrowserClient(service.url), new BrowserClient(service.url)]
  for (const client of [other, other, browser])
    t.match(await client.get(path), { status: 200, text: 'Sign in as owner@localhost' }, 'looking uses nothing up')
  const { id = '', code = '' } = Object.fromEntries(new URL(link).searchParams)
  const forged = await browser.post('/console/sign-in/first', { id, code }, { 'Sec-Fetch-Site': 'cross-site' })
  t.equal(forged.status, 403)
  t.match(await browser.post('/console/sign-in/first', { id, code: 'BBBB-BBBB' }), { status: 400 })
  t.match(await browser.post('/console/sign-in/first', { id, code }), { status: 303, location: '/console' })
  t.match((await browser.get('/console/settings')).text, /Signed in as <strong[^>]*>owner@localhost/)
  t.match(await browser.get(path), { status: 303, location: '/console' })
  t.match(await other.get(path), {
    status: 400,
    text: /This link no longer works.*already.*Sign in with the address.*href="\/console\/sign-in"/s,
  })
  const again = await other.post('/console/sign-in/first', { id, code })
  t.match(again, { status: 400, text: /This link no longer works.*already.*newest file in <code>.*outbox/s })
  t.notOk(other.cookies.has('tollgate-session'))
  const { mail } = service.core.config
  t.equal(mail.kind === 'outbox' && (await readdir(mail.folder).catch(() => [])).length, 0, 'no mail holds the code')
})

t.test('with a mail server, the welcome does not name a folder', async t => {
  const core = await openFolder(await temporaryFolder(t), {
    environment: { SMTP_URL: 'smtp://localhost:2525', MAIL_FROM: 'tollgate@example.com' },
  })
  t.teardown(() => core.close())
  let text = ''
  t.intercept(console, 'log', {
    value: (line: string) => {
      text += line
    },
  })
  await welcome(core, 'http://localhost')
  t.match(text, 'Your mail server must deliver the code')
  t.notMatch(text, 'newest file')
})

t.test('the welcome is shown only once, even if the first key is revoked', async t => {
  const core = await open(t)
  const [{ accountId, keyId }] = (await showWelcome(t, core)) as [KeyRow]
  await core.accounts.execute(caller, accountId, { type: 'RevokeApiKey', keyId })
  await caughtUp(core)
  t.same(await showWelcome(t, core), [])
})

t.test('the welcome is not shown again for lost views', async t => {
  const folder = await temporaryFolder(t)
  const first = await openFolder(folder)
  t.equal((await showWelcome(t, first)).length, 1)
  await first.close()
  await rm(join(folder, 'views'), { recursive: true })
  const core = await openFolder(folder)
  t.teardown(() => core.close())
  t.same(await showWelcome(t, core), [])
})
