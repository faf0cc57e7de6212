import t from 'tap'
import { TypeID } from 'typeid-js'
import { accountStream } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import { FRESH_MS } from '../../src/domain/account/access.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { Alerts } from '../../src/services/operator/alerts.ts'
import { BrowserClient, messagesIn, signedInAt, wordsOf } from '../support/browser-client.ts'
import { picture } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { doneFor } from '../support/done.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { openPurchase, purchaseId } from '../support/purchase-samples.ts'
import { openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const caller = { kind: 'operator', name: 'test' } as const
const OPERATOR = 'ops@example.com'
const environment = { TRUSTED_PROXIES: '127.0.0.1', ADMIN_EMAILS: `${OPERATOR},Second@Example.com` }
/** A provider whose jobs have IDs. */
const slow: Provider = {
  deduplicates: true,
  submit: async ({ runId }) => ({ kind: 'submitted', jobId: `models/x/operations/op.${runId}`, pollAfterMs: 0 }),
  poll: async ({ endpoint }) => doneFor({ endpoint, input: {} }),
}
const clock = new ManualClock()
const service = await startService(t, { clock, environment, providers: { sandbox: slow } })

const signedIn = (email: string) => signedInAt(service, email)

const operator = await signedIn(OPERATOR)
const second = await signedIn('second@example.com')
const owner = await signedIn('ada@example.com')
const accountOf = async (browser: BrowserClient) =>
  /acct_\w+/.exec((await browser.get('/console/settings')).text)?.[0] as AccountId
const ada = await accountOf(owner)

const pathOf = (accountId: string, action = '') => `/console/operator/accounts/${accountId}${action && `/${action}`}`

const eventsOf = async (accountId: AccountId): Promise<RawEvent[]> =>
  (await collect(service.core.log.readStream(accountStream(accountId), 0))).flat()

const lastEvent = async (accountId: AccountId) => (await eventsOf(accountId)).at(-1)

/** The hidden and other fields with values on a page, but not the token of the form. */
const fieldsOn = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
      .map(([, name = '', value = '']) => [name, value] as const)
      .filter(([name]) => name !== 'form_token' && name !== 'back' && name !== 'mode'),
  )

/** Fills in the form of an action, and looks at it again. */
const lookAt = async (browser: BrowserClient, path: string, fields: Record<string, string>) => {
  const form = await browser.get(path)
  return browser.post(path, { ...fieldsOn(form.text), ...fields })
}

/** Does what the second look shows. */
const act = async (browser: BrowserClient, path: string, fields: Record<string, string>) => {
  const look = await lookAt(browser, path, fields)
  return look.status === 200 ? browser.post(path, { ...fieldsOn(look.text), step: 'do' }) : look
}

const PAGES = [
  ...['/console/operator', '/console/operator/accounts', pathOf(ada), pathOf(ada, 'grant'), pathOf(ada, 'suspend')],
  ...['/console/operator/catalog', '/console/operator/catalog/nano-banana-2'],
]

t.test('owners who are no operators find no page of the operator, and cannot act', async t => {
  for (const path of PAGES) {
    t.match(await owner.get(path), { status: 404, text: /There is no such page/ }, path)
    const { status } = await new BrowserClient(service.url).get(path)
    t.equal(status, 303, `${path} asks strangers to sign in`)
  }
  const before = await eventsOf(ada)
  for (const action of ['grant', 'withdraw', 'suspend', 'resume', 'limits', 'tester'])
    t.match(await owner.post(pathOf(ada, action), { credits: '5', reason: 'me', kind: 'courtesy', step: 'do' }), {
      status: 404,
    })
  for (const path of ['/console/operator/retry', '/console/operator/catalog/nano-banana-2'])
    t.equal((await owner.post(path, { provider: 'openai', json: '{}', step: 'do' })).status, 404)
  t.same(await eventsOf(ada), before)
  t.notMatch((await owner.get('/console/settings')).text, 'href="/console/operator')
  t.match((await operator.get('/console/settings')).text, 'href="/console/operator')
})

t.test('an operator grants credits after a second look, and sending it twice grants once', async t => {
  const path = pathOf(ada, 'grant')
  const look = await lookAt(operator, path, { credits: '500', kind: 'courtesy', reason: 'for the outage' })
  t.equal(look.status, 200)
  t.match(wordsOf(look.text), /You grant 500 credits to ada@example\.com\..*Balance 100 → 600/)
  t.not((await lastEvent(ada))?.type, 'CreditsGranted', 'looking grants nothing')
  const fields = { ...fieldsOn(look.text), step: 'do' }
  const done = await operator.post(path, fields)
  t.match(done, { status: 303, location: /^\/console\/operator\/accounts\/acct_\w+\?done=\d+$/ })
  const event = await lastEvent(ada)
  t.match(event, {
    type: 'CreditsGranted',
    data: { amountMicros: 500_000_000, kind: 'courtesy', reason: 'for the outage', reference: /^console-/ },
    metadata: { actor: { kind: 'operator', name: OPERATOR } },
  })
  const page = await operator.get(done.location ?? '')
  t.match(wordsOf(page.text), '500 credits granted · balance 600')
  t.match(page.text, `title="Event ${event?.revision} of the account: CreditsGranted"`)
  const told = await until('the other operator is told', async () =>
    (await messagesIn(service)).find(message => message.includes('acted as an operator')),
  )
  t.match(told, /^To: second@example\.com\r$/m)
  for (const line of [
    /ops@example\.com did this/,
    / {4}Grant 500 credits: ada@example\.com/,
    / {4}Reason: for the outage/,
  ])
    t.match(told?.replaceAll('=\r\n', ''), line)
  t.match(await operator.post(path, fields), { status: 303, location: /done=before$/ })
  t.match(wordsOf((await operator.get(`${pathOf(ada)}?done=before`)).text), /This was done before/)
  t.equal((await eventsOf(ada)).filter(({ type }) => type === 'CreditsGranted').length, 2, 'welcome and grant')
})

t.test('a second look can be changed, and a page names only what its operator did', async t => {
  const path = pathOf(ada, 'grant')
  const look = await lookAt(operator, path, { credits: '7', kind: 'correction', reason: '<b>"x"' })
  const back = await operator.post(path, { ...fieldsOn(look.text), reason: '<b>"x"', step: 'change' })
  t.match(back.text, 'value="7"')
  t.match(back.text, 'value="&lt;b>&quot;x&quot;"')
  const { revision } = (await lastEvent(ada)) as RawEvent
  t.notMatch(wordsOf((await second.get(`${pathOf(ada)}?done=${revision}`)).text), 'credits granted ·')
})

t.test('an operator withdraws credits, but no more than there are', async t => {
  const path = pathOf(ada, 'withdraw')
  const fields = { credits: '100.5', kind: 'courtesy', reason: 'too much', reference: 'ticket 7' }
  t.match(await act(operator, path, fields), { status: 303, location: /done=\d+$/ })
  t.match(await lastEvent(ada), {
    type: 'CreditsWithdrawn',
    data: { amountMicros: 100_500_000, reference: 'ticket 7', balanceAfterMicros: 499_500_000 },
    metadata: { actor: { name: OPERATOR } },
  })
  t.match(await act(operator, path, fields), { location: /done=before$/ }, 'the reference counts once')
  t.match(await lookAt(operator, path, { ...fields, credits: '500', reference: '' }), {
    status: 400,
    text: /The account has only 499\.5 credits/,
  })
})

t.test('the owner of a suspended account is refused until it is resumed', async t => {
  const customer = await openAccount(service)
  const { accountId } = customer
  const done = await act(second, pathOf(accountId, 'suspend'), { reason: 'unpaid invoice' })
  t.match(done, { status: 303 })
  t.match(await lastEvent(accountId), {
    type: 'AccountSuspended',
    data: { reason: 'unpaid invoice' },
    metadata: { actor: { kind: 'operator', name: 'second@example.com' } },
  })
  t.equal((await customer.send('/v1/balance')).status, 403)
  t.match(wordsOf((await second.get(pathOf(accountId))).text), /Suspended since .*: unpaid invoice/)
  t.match(await act(second, pathOf(accountId, 'suspend'), { reason: 'again' }), {
    status: 400,
    text: /already suspended/,
  })
  t.match(await act(second, pathOf(accountId, 'resume'), { reason: 'paid' }), { status: 303 })
  t.equal((await customer.send('/v1/balance')).status, 200)
  t.match(await lastEvent(accountId), { type: 'AccountResumed', metadata: { actor: { name: 'second@example.com' } } })
})

t.test('nobody suspends the own account', async t => {
  const own = await accountOf(operator)
  t.match(await act(operator, pathOf(own, 'suspend'), { reason: 'oops' }), { status: 400, text: /your own account/ })
})

t.test('limits are set, changed and ended', async t => {
  const { accountId } = await openAccount(service)
  const path = pathOf(accountId, 'limits')
  const look = await lookAt(operator, path, { requests_per_minute: '1200', runs_in_flight: '' })
  t.match(wordsOf(look.text), /Requests a minute as for all → 1200/)
  await act(operator, path, { requests_per_minute: '1200', runs_in_flight: '9' })
  t.match(await lastEvent(accountId), { type: 'LimitsSet', data: { requestsPerMinute: 1200, runsInFlight: 9 } })
  const { length } = await eventsOf(accountId)
  await act(operator, path, { requests_per_minute: '', runs_in_flight: '12' })
  t.same((await lastEvent(accountId))?.data, { runsInFlight: 12 })
  t.equal((await eventsOf(accountId)).length, length + 1, 'a change is one event')
  await act(operator, path, { requests_per_minute: '', runs_in_flight: '' })
  t.same((await lastEvent(accountId))?.data, {})
  t.match(await lastEvent(accountId), { metadata: { actor: { name: OPERATOR } } })
})

t.test('a tester sees and runs the models in test, until an operator says otherwise', async t => {
  const customer = await openAccount(service)
  const path = pathOf(customer.accountId, 'tester')
  const request = { model: 'sandbox', input: { prompt: 'a lake' } }
  t.equal((await customer.run(request)).status, 404)
  const look = await lookAt(operator, path, { tester: 'yes' })
  t.match(wordsOf(look.text), /You make .* a tester\./)
  t.match(await act(operator, path, { tester: 'yes' }), { status: 303, location: /done=\d+$/ })
  t.match(await lastEvent(customer.accountId), {
    type: 'TesterSet',
    data: { tester: true },
    metadata: { actor: { kind: 'operator', name: OPERATOR } },
  })
  t.match((await operator.get(pathOf(customer.accountId))).text, '>Tester<')
  t.equal((await customer.run(request)).status, 200)
  const { length } = await eventsOf(customer.accountId)
  await act(operator, path, { tester: 'yes' })
  t.equal((await eventsOf(customer.accountId)).length, length, 'it is a tester already')
  await act(operator, path, { tester: 'no' })
  t.notMatch((await operator.get(pathOf(customer.accountId))).text, '>Tester<')
  t.equal((await customer.run(request)).status, 404)
  t.match(await lookAt(operator, path, { tester: 'maybe' }), { status: 400, text: /Choose whether/ })
})

t.test('faults of the forms are shown, and change nothing', async t => {
  const before = await eventsOf(ada)
  for (const each of [
    ['grant', { credits: '1e3', kind: 'courtesy', reason: 'x' }, /number from 0\.000001/, 'credits'],
    ['grant', { credits: '0', kind: 'courtesy', reason: 'x' }, /number from 0\.000001/, 'credits'],
    ['grant', { credits: '1.0000001', kind: 'courtesy', reason: 'x' }, /at most six decimals/, 'credits'],
    ['grant', { credits: '1', kind: 'purchase', reason: 'x' }, /kind is unknown/, 'kind'],
    ['grant', { credits: '1', kind: 'courtesy', reason: ' ' }, /reason must have/, 'reason'],
    ['grant', { credits: '1', kind: 'courtesy', reason: 'a\u0007b' }, /reason must have/, 'reason'],
    [
      'withdraw',
      { credits: '1', kind: 'courtesy', reason: 'x', reference: 'r'.repeat(201) },
      /reference must have/,
      'reference',
    ],
    ['withdraw', { credits: '999999', kind: 'courtesy', reason: 'x' }, /has only/, 'credits'],
    ['suspend', { reason: '' }, /reason must have/, 'reason'],
    ['resume', { reason: 'x' }, /not suspended/, undefined],
    ['limits', { requests_per_minute: '0' }, /whole number/, 'requests_per_minute'],
  ] as const) {
    const [action, fields, fault, field] = each
    const { status, text } = await act(operator, pathOf(ada, action), fields)
    t.equal(status, 400)
    t.match(/role="alert">([^<]*)/.exec(text)?.[1], fault)
    t.equal(/aria-describedby="(\w+)-fault"/.exec(text)?.[1], field, fault.source)
  }
  for (const path of [pathOf('acct_01m7z4hp3ye9bv5nfwqzm2r6ja'), pathOf('nobody'), pathOf(ada, 'delete')])
    t.equal((await operator.get(path)).status, 404, path)
  t.same(await eventsOf(ada), before)
})

t.test('forms of other sites, and forms without their token, are refused', async t => {
  const before = await eventsOf(ada)
  const fields = { credits: '5', kind: 'courtesy', reason: 'me', form_reference: 'forged', step: 'do' }
  for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }])
    for (const action of ['grant', 'suspend'])
      t.equal((await operator.post(pathOf(ada, action), fields, headers as never)).status, 403)
  t.equal((await operator.post(pathOf(ada, 'grant'), { ...fields, form_token: 'guessed' })).status, 403)
  t.same(await eventsOf(ada), before)
})

t.test('the page of an account shows what its owner sees, and the list goes on by a cursor', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.run({ ...picture, input: { prompt: '<script>alert(1)</script>' } })
  const account = await operator.get(pathOf(customer.accountId))
  t.match(
    wordsOf(account.text),
    /You see what .* sees.*Statement .*Nano Banana 2 .* −10 90 .*Deliveries.*Key .*Sessions/,
  )
  t.match(account.text, `src="${pathOf(customer.accountId)}/runs/${body.run_id}/thumbnail"`)
  const run = await operator.get(`${pathOf(customer.accountId)}/runs/${body.run_id}`)
  t.match(wordsOf(run.text), /You see what .* sees.*Prompt.*Receipt.*(RunQueued|RunStarted) event/)
  const thumbnail = await operator.get(`${pathOf(customer.accountId)}/runs/${body.run_id}/thumbnail`)
  t.equal(thumbnail.headers.get('content-type'), 'image/webp')
  for (const { text } of [account, run]) {
    // Below the band, an operator finds no form, and no link to a page of the own account.
    const seen = text.slice(text.indexOf('You see what'), text.indexOf('</main>'))
    t.notMatch(seen, '<form')
    t.notMatch(seen, /(href|hx-get|src)="\/(console\/(?!operator)|v1\/)/)
    t.notMatch(seen, /Open in playground|Revoke|Send again|End session/)
  }
  t.equal((await owner.get(`${pathOf(customer.accountId)}/runs/${body.run_id}/thumbnail`)).status, 404)
  t.notMatch(run.text, '<script>alert')
  t.equal((await operator.get(`${pathOf(ada)}/runs/${body.run_id}`)).status, 404, 'a run is of one account')
  t.equal((await owner.get(`${pathOf(customer.accountId)}/runs/${body.run_id}`)).status, 404)

  const list = await operator.get('/console/operator/accounts')
  t.match(wordsOf(list.text), /Owner State Balance/)
  const rest = await operator.get(`/console/operator/accounts?cursor=${customer.accountId}`)
  t.notMatch(rest.text, customer.accountId)
  t.match(rest.text, ada, 'older accounts follow')
  t.equal((await operator.get('/console/operator/accounts?cursor=acct_x')).status, 400)
  const fragment = await operator.get(`/console/operator/accounts?cursor=${customer.accountId}`, {
    'HX-Request': 'true',
  })
  t.notMatch(fragment.text, '<html')
})

const searchFor = async (browser: BrowserClient, query: string) =>
  browser.get(`/console/search?q=${encodeURIComponent(query)}`)

t.test('the search takes any ID, and owners find only their own things', async t => {
  const stranger = await openAccount(service)
  await service.core.accounts.execute(caller, stranger.accountId, openPurchase())
  const requestId = 'order-4711.a'
  const { body } = await stranger.run(picture, { 'X-Request-Id': requestId })
  const run = body.run_id as string
  const { body: upload } = await stranger.post<{ id: string }>('/v1/uploads/presigned', {
    ...{ filename: 'beach.png', mime_type: 'image/png' },
  })
  const uuid = TypeID.fromString(run).toUUID()
  const jobId = `models/x/operations/op.${run}`
  const { email = '' } = unwrap(await service.core.services.accounts.find(caller, stranger.accountId)).account
  const account = pathOf(stranger.accountId)
  const runPage = `${account}/runs/${run}`
  const found: [text: string, page: string][] = [
    [stranger.accountId, account],
    [email, account],
    [` ${email.toUpperCase()} `, account],
    [run, runPage],
    [uuid, runPage],
    [requestId, runPage],
    [jobId, runPage],
    [`op.${run}`, runPage],
    [stranger.keyId, `${account}#${stranger.keyId}`],
    [stranger.apiKey, `${account}#${stranger.keyId}`],
    [upload.id, account],
    [purchaseId(), account],
  ]
  for (const [text, page] of found) {
    t.match(await searchFor(operator, text), { status: 303, location: page }, text)
    t.match(await searchFor(owner, text), { status: 200, text: /Nothing has the name or ID/ }, `${text} for others`)
  }
  for (const text of [
    'acct_',
    'run_',
    run.slice(0, -1),
    purchaseId().slice(0, -1),
    '%',
    '/',
    'request/',
    '\u0000',
    'x'.repeat(1000),
    requestId.slice(0, 7),
  ])
    t.match(await searchFor(operator, text), { status: 200, text: /Nothing has/ }, text)
  const hostile = '<script>alert(1)</script>'
  t.notMatch((await searchFor(operator, hostile)).text, hostile)
})

t.test('owners find their own runs, keys, uploads and purchases, and pages by name', async t => {
  await owner.post('/console/keys', { name: 'website' })
  const [key = ''] = /key_\w+/.exec((await owner.get('/console/keys')).text) ?? []
  t.match(await searchFor(owner, key), { status: 303, location: `/console/keys#${key}` })
  const { body: run } = await owner.send<{ run_id: string }>('POST', '/v1/run', picture, { 'X-Request-Id': 'mine-1' })
  for (const text of [run.run_id, 'mine-1'])
    t.match(await searchFor(owner, text), { status: 303, location: `/console/runs/${run.run_id}` })
  await service.core.accounts.execute(caller, ada, openPurchase({ purchase: 2 }))
  const purchase = `/console/credits/purchases/${purchaseId(2)}`
  t.match(await searchFor(owner, purchaseId(2)), { status: 303, location: purchase })
  t.match(await searchFor(owner, 'play'), { status: 200, text: /href="\/console\/playground" data-item/ })
  t.notMatch(wordsOf((await searchFor(owner, 'catalog')).text), /Catalog Page/)
  t.match(wordsOf((await searchFor(operator, 'catalog')).text), /Catalog Page/)
  const fragment = await owner.get(`/console/search?q=${run.run_id}`, { 'HX-Request': 'true' })
  t.match(fragment, { status: 200, text: `/console/runs/${run.run_id}` })
  t.notMatch(fragment.text, '<html')
  t.equal((await new BrowserClient(service.url).get('/console/search?q=x')).status, 303)
})

t.test('the overview shows what the service does, and what needs a person', async t => {
  const page = await until('the run counts', async () => {
    const { text } = await operator.get('/console/operator')
    return /Runs a minute [1-9]/.test(wordsOf(text)) && wordsOf(text)
  })
  t.match(page, /Failed 0 % 0 of [1-9]/)
  t.match(page, /Oldest waiting none queue of 0/)
  t.match(page, /Views behind \d+ ms/)
  t.match(page, /Needs you Nothing/)
  t.match(page, /Webhooks failing 0/)
  t.match(page, /Sandbox Healthy .* cost \$0\.00 margin –/)
})

t.test('an alert needs a person, who has the account tried again', async t => {
  const alerts = new Alerts({ ...service.core, hasMail: false })
  const sink = { kind: 'seal_sink_fails', sink: '/mnt/<i>copies' } as const
  alerts.report({ kind: 'provider_refuses', provider: 'openai', account: '1a2b3c4d', reason: 'unauthorized' })
  alerts.report(sink)
  await alerts.stop()
  const { text } = await operator.get('/console/operator')
  t.match(wordsOf(text), /2 matters openai 1a2b3c4d The provider refuses the key.*Try again now/)
  t.match(text, '/mnt/&lt;i>copies')
  const fields = { provider: 'openai', account: '1a2b3c4d' }
  t.match(await operator.post('/console/operator/retry', fields), { status: 303, location: /retry=none$/ })
  t.match(wordsOf((await operator.get('/console/operator?retry=none')).text), /It waits no more/)
})

t.test('a family is revised after a look at the differences', async t => {
  t.match(wordsOf((await operator.get('/console/operator/catalog')).text), /Nano Banana 2 .*nano-banana-2/i)
  const path = '/console/operator/catalog/nano-banana-2'
  const [family] = unwrap(await service.core.services.catalog.export(caller, 'nano-banana-2'))
  const json = JSON.stringify({ ...family, name: 'Nano <b>"2"' })
  const form = await operator.get(path)
  const seen = fieldsOn(form.text)['seen'] as string
  const review = await operator.post(path, { json, seen })
  t.equal(review.status, 200)
  t.match(review.text, /You change Nano &lt;b>&quot;2&quot; in 1 place/)
  t.match(review.text, 'Nano &lt;b>')
  const newest = async () => (await collect(service.core.log.readStream('catalog', 0))).at(-1)
  t.notMatch(await newest(), { type: 'FamilyRevised' }, 'looking publishes nothing')
  const done = await operator.post(path, { json, seen, step: 'do' })
  t.match(await newest(), {
    type: 'FamilyRevised',
    data: { family: { name: 'Nano <b>"2"' }, byHand: true },
    metadata: { actor: { kind: 'operator', name: OPERATOR } },
  })
  t.match(done, { status: 303, location: `${path}?done=${(await newest())?.revision}` })
  t.match(
    wordsOf((await operator.get(done.location ?? '')).text),
    new RegExp(`Family revised · revision \\d+ of the catalog.*revised ${OPERATOR}`),
  )
  t.match(await operator.post(path, { json, seen, step: 'do' }), { status: 303, location: `${path}?done=before` })
  const before = await newest()
  const next = String(before?.revision)
  for (const [text, fault, at = next] of [
    ['{', /This is not JSON/],
    ['{}', /This is not a family/],
    [JSON.stringify({ ...family, id: 'other' }), /ID must stay/],
    [json, /published in this form/],
    [JSON.stringify(family), /has changed since/, seen],
    [JSON.stringify({ ...family, aliases: ['flux-2-pro'] }), /not valid/],
  ] as const) {
    const looked = await operator.post(path, { json: text, seen: at })
    const reply = looked.status === 200 ? await operator.post(path, { json: text, seen: at, step: 'do' }) : looked
    t.match(/role="alert">([^<]*)/.exec(reply.text)?.[1], fault)
    t.equal(reply.status, 400)
  }
  t.same(await newest(), before)
  t.equal((await operator.get('/console/operator/catalog/nothing')).status, 404)

  const revisions = ['One', 'Two', 'Three'].map(name => JSON.stringify({ ...family, name }))
  const both = await Promise.all(revisions.map(json => operator.post(path, { json, seen: next, step: 'do' })))
  t.same(both.map(({ status }) => status).sort(), [303, 400, 400], 'of forms at once, one is published')
  t.match(both.find(({ status }) => status === 400)?.text, /role="alert">The family has changed since/)
})

t.test('prices, costs and their changes are told in credits', async t => {
  const path = '/console/operator/catalog/flux-2-pro'
  const form = await operator.get(path)
  t.match(wordsOf(form.text), /flux-2-pro-t2i base 1\.5 resolution: 0\.5 MP × 2.* usual run 3 cost 3 at fal margin 0 %/)
  t.notMatch(form.text, 'below cost')
  const [family] = unwrap(await service.core.services.catalog.export(caller, 'flux-2-pro'))
  const withBase = (of: (baseMicros: number) => number) => ({
    ...family,
    endpoints: family?.endpoints.map(each => ({
      ...each,
      pricing: { ...each.pricing, baseMicros: of(each.pricing.baseMicros) },
    })),
  })
  const { seen = '' } = fieldsOn(form.text)
  const review = async (changed: object) => operator.post(path, { json: JSON.stringify(changed), seen })
  const large = await review(withBase(base => base * 2 + 1))
  t.match(wordsOf(large.text), /A usual run of flux-2-pro-t2i more than twice or half 3 credits 6\.000002 credits/)
  t.match(wordsOf(large.text), /Base price of flux-2-pro-t2i more than twice or half 1\.5 credits 3\.000001 credits/)
  t.match(wordsOf(large.text), /A price becomes more than twice as high/)
  const small = await review(withBase(base => base - 250_000))
  t.match(wordsOf(small.text), /A usual run of flux-2-pro-t2i 3 credits 2\.5 credits/)
  t.notMatch(small.text, 'more than twice')
  t.match(await review({ ...family, endpoints: family?.endpoints.map(each => ({ ...each, pricing: WRONG })) }), {
    status: 400,
    text: /role="alert">[^<]*nothing/,
  })
  const json = JSON.stringify(withBase(base => base - 250_000))
  t.match(await operator.post(path, { json, seen, step: 'do' }), { status: 303 })
  t.match(wordsOf((await operator.get(path)).text), /below cost margin −20 %/)
  t.match(wordsOf((await operator.get('/console/operator/catalog')).text), /flux-2-pro changed by hand .*below cost/)
})

const WRONG = { baseMicros: 1, quantities: ['nothing'], multipliers: {}, surcharges: [] }

t.test('money, access and prices need a fresh code, and looking needs none', async t => {
  const path = pathOf(ada, 'grant')
  const look = await lookAt(operator, path, { credits: '1', kind: 'courtesy', reason: 'late' })
  const before = await eventsOf(ada)
  clock.advance(FRESH_MS)
  const confirm = { status: 303, location: /^\/console\/confirm\?back=%2Fconsole%2Foperator/ }
  for (const action of ['grant', 'withdraw', 'suspend', 'resume', 'limits'])
    t.match(await operator.get(pathOf(ada, action)), confirm, action)
  const referer = { Referer: service.url + path }
  t.match(await operator.post(path, { ...fieldsOn(look.text), step: 'do' }, referer), confirm)
  const catalog = '/console/operator/catalog/nano-banana-2'
  t.match(await operator.post(catalog, { json: '{}' }, { Referer: service.url + catalog }), confirm)
  t.same(await eventsOf(ada), before)
  for (const each of ['/console/operator', pathOf(ada), catalog]) t.equal((await operator.get(each)).status, 200, each)
  t.equal((await owner.get(path)).status, 404, 'an owner is asked for nothing')
})
