import t from 'tap'
import { type BrowserClient, signedInAt } from '../support/browser-client.ts'
import { picture } from '../support/client.ts'
import { instantProvider, startService } from '../support/service.ts'

const OPERATOR = 'ops@example.com'
const environment = { TRUSTED_PROXIES: '127.0.0.1', ADMIN_EMAILS: OPERATOR }
const service = await startService(t, { environment, providers: { sandbox: instantProvider } })

const signedIn = (email: string) => signedInAt(service, email)

const [owner, stranger, operator] = [
  await signedIn('ada@example.com'),
  await signedIn('bob@example.com'),
  await signedIn(OPERATOR),
]

const runFor = async (browser: BrowserClient, prompt: string, label?: string) => {
  const request = { ...picture, input: { ...picture.input, prompt }, ...(label && { label }) }
  return (await browser.send<{ run_id: string }>('POST', '/v1/run', request)).body.run_id
}

const fox = await runFor(owner, 'A red fox in the snow <b>', 'spring "<i>campaign"')
await runFor(owner, 'A lake at night', 'spring "<i>campaign"')
await owner.post('/console/keys', { name: 'Website of <b>Ada' })
await runFor(stranger, 'A grey wolf', 'winter')
await stranger.post('/console/keys', { name: 'Bot of Bob' })

/** The results in the finder, as texts and addresses. */
const found = async (browser: BrowserClient, query: string) => {
  const { status, text } = await browser.get(`/console/search?q=${encodeURIComponent(query)}`, { 'HX-Request': 'true' })
  t.equal(status, 200)
  t.notMatch(text, '<html')
  return [...text.matchAll(/<(a|button)([^>]*)>(.*?)<\/\1>/gs)].map(([, , attributes = '', content = '']) => ({
    href: /href="([^"]*)"/.exec(attributes)?.[1]?.replaceAll('&amp;', '&'),
    isSelected: attributes.includes('aria-selected="true"'),
    text: content
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }))
}

/** The results that are not in the documentation. */
const foundInConsole = async (browser: BrowserClient, query: string) =>
  (await found(browser, query)).filter(({ href }) => !href?.startsWith('/docs/'))

t.test('pages, actions, models, keys, labels and runs are found by a part of their names', async t => {
  const key = /key_\w+/.exec((await owner.get('/console/keys')).text)?.[0]
  for (const [query, href, text] of [
    ['cred', '/console/credits', 'Credits Page'],
    ['create key', '/console/keys#name', 'Create new key Action'],
    ['BANANA nano', '/console/playground?model=nano-banana-2', 'Nano Banana 2 Run this model'],
    ['nano-banana-pro', '/console/playground?model=nano-banana-pro', 'Nano Banana Pro Run this model'],
    ['websi', `/console/keys#${key}`, 'Website of &lt;b>Ada API key'],
    ['campaign', /^\/console\/runs\?label=spring.*&range=30d$/, 'spring "&lt;i>campaign" Runs with this label (2)'],
    ['fox snow', `/console/runs/${fox}`, 'A red fox in the snow &lt;b> Run · completed'],
  ] as const) {
    const [first, ...others] = await found(owner, query)
    t.match(first, { href, isSelected: true }, query)
    t.equal(first?.text.replaceAll('&quot;', '"'), text)
    t.ok(others.every(({ isSelected }) => !isSelected))
  }
  const label = (await found(owner, 'campaign'))[0]?.href ?? ''
  t.match((await owner.get(label)).text, 'A lake at night', 'the label leads to its runs')
})

t.test('names that begin with the query come before those that contain it', async t => {
  await owner.post('/console/keys', { name: 'Mode of all' })
  const names = (await found(owner, 'mode')).map(({ text }) => text)
  t.same(names.slice(0, 2), ['Mode of all API key', 'Choose a model Action'])
  const runs = await found(owner, 'a')
  t.match(runs.at(-1)?.text, /Run · completed$/, 'prompts come last')
})

t.test('an account finds nothing of another one by its name', async t => {
  for (const query of ['wolf', 'winter', 'Bot of', 'bob@']) {
    t.same(await foundInConsole(owner, query), [], query)
    t.same(await foundInConsole(operator, query), [], `${query}, for an operator`)
  }
  t.match((await found(stranger, 'wolf'))[0], { text: /^A grey wolf/ })
  t.same(await foundInConsole(owner, 'sandbox'), [], 'models in test are for testers')
  t.notOk((await found(owner, 'accounts')).some(({ href }) => href?.startsWith('/console/')))
  const [page, guide] = await found(operator, 'accounts')
  t.match([page, guide], [{ href: '/console/operator/accounts' }, { href: '/docs/accounts', text: / Guide$/ }])
  t.match(await found(operator, 'flux-2-pro'), [{ text: /Run this/ }, { href: '/console/operator/catalog/flux-2-pro' }])
  const notes = (await found(operator, 'nano')).map(({ text }) => text)
  const firstPrice = notes.findIndex(text => text.endsWith('Its prices'))
  t.ok(firstPrice > notes.findLastIndex(text => text.endsWith('Run this model')), 'prices come after the models')
})

t.test('guides and requests of the documentation are found by their titles and words', async t => {
  t.match(await found(owner, 'auditing'), [{ href: '/docs/auditing', text: 'Auditing Guide' }])
  const receiving = { href: '/docs/webhooks#receiving', text: 'Webhooks › Receiving Guide' }
  t.match((await found(owner, 'webhook signature'))[0], receiving)
  const guides = (await found(owner, 'credits')).filter(({ href }) => href?.includes('#') && href.startsWith('/docs/'))
  t.equal(guides.length, 3)
  const run = (await found(owner, 'POST /v1/run')).find(({ href }) => href === '/docs/reference/runModel')
  t.match(run?.text, /POST \/v1\/run$/)
  t.same(await found(owner, 'outages'), [], 'guides for operators')
  t.match(await found(operator, 'outages'), [{ href: /^\/docs\// }])
})

t.test('without a query, all pages and actions are found', async t => {
  const names = (await found(owner, ' ')).map(({ text }) => text)
  t.equal(names[0], 'Playground Page')
  t.equal(names.at(-1), 'Sign out Action')
})

t.test('an action is a form', async t => {
  const page = await owner.get('/console/search?q=test+mode')
  t.match(page.text, /<form method="post" action="\/console\/mode" id="action-0">/)
  await owner.post('/console/mode', { mode: 'test' })
  t.same(await foundInConsole(owner, 'websi'), [], 'live keys are not on the page of test keys')
  t.same(await foundInConsole(owner, 'fox'), [], 'nor live runs in the list of test runs')
  t.same(await foundInConsole(owner, 'campaign'), [])
  t.match(await foundInConsole(owner, 'turn test'), [{ text: 'Turn test mode off Action' }])
  await owner.post('/console/mode', { mode: 'live' })
})

t.test('the search page leads on when nothing is found', async t => {
  const { text } = await owner.get('/console/search?q=zzz')
  t.match(text, /Nothing has the name or ID “<bdi>zzz<\/bdi>”.*href="\/console\/runs\?range=1y"/s)
  for (const href of ['/console/runs?range=1y', '/console/playground/models'])
    t.equal((await owner.get(href)).status, 200)
})
