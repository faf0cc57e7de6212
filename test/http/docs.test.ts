import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'
import { addressOfFile } from '../../src/console/docs/library.ts'
import { renderPage } from '../../src/console/docs/markdown.tsx'
import { operationPath, schemaPath } from '../../src/console/docs/paths.ts'
import { accessOf } from '../../src/console/docs/scopes.ts'
import { templateOf } from '../../src/http/operation.ts'
import { routes } from '../../src/http/routes.ts'
import { BrowserClient } from '../support/browser-client.ts'
import type { Document } from '../support/document-parts.ts'
import { openAccount, startService } from '../support/service.ts'

const service = await startService(t, { environment: { SERVICE_NAME: 'Pictures & Sons' } })
const stranger = new BrowserClient(service.url)
const reader = new BrowserClient(service.url)
await reader.signIn(service, 'ada@example.com')

const files = (await readdir('docs', { recursive: true })).filter(name => name.endsWith('.md'))
const guides = files.map(addressOfFile)

const { body: document } = await reader.send<Document>('GET', '/v1/openapi.json')
const operations = Object.entries({ ...document.paths, ...document.webhooks }).flatMap(([path, methods]) =>
  Object.values(methods).map(operation => ({ path, ...operation })),
)

/** The pages of people who are signed in, each of which is fetched once. */
const seen = new Map<string, Promise<string>>()
const pageAt = (path: string): Promise<string> => {
  const page = seen.get(path) ?? reader.get(path).then(({ status, text }) => (status === 200 ? text : `${status}`))
  seen.set(path, page)
  return page
}

const hrefsOf = (html: string) => [...html.matchAll(/ href="([^"]*)"/g)].map(([, href = '']) => href)

const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

t.test('every guide has a page with its title and the name of the operator, for everyone', async t => {
  for (const file of files.filter(name => name !== 'README.md')) {
    const { status, text } = await stranger.get(addressOfFile(file))
    t.equal(status, 200, file)
    const [, title = ''] = /^# (.*)$/m.exec(await readFile(`docs/${file}`, 'utf8')) ?? []
    t.match(textOf(/<h1>(.*?)<\/h1>/.exec(text)?.[1] ?? ''), title.replaceAll('`', ''), file)
    t.match(text, 'Pictures &amp; Sons</title>', file)
  }
})

t.test('the index leads to every guide by its readers', async t => {
  const { text } = await stranger.get('/docs')
  const hrefs = hrefsOf(text)
  for (const guide of guides.filter(path => /^\/docs\/[^/]+$/.test(path))) t.ok(hrefs.includes(guide), guide)
  for (const reader of ['You write a client', 'You operate the service']) t.match(text, `<h2>${reader}</h2>`)
  const readers = [...text.matchAll(/ class="shelf">(?:<summary>)?<h2>([^<]*)/g)].map(([, reader]) => reader)
  t.same(readers.slice(-2), ['You operate the service', 'You contribute'], 'customers come first')
  t.match(text, '<details class="shelf"><summary><h2>You operate the service', 'customers see the rest by a click')
  const open = (page: string) => /<details open>.*?<\/details>/s.exec(page)?.[0] ?? ''
  t.equal(open(text), '')
  t.match(open((await stranger.get('/docs/cli')).text), 'You operate the service')
  t.match(text, 'Pictures &amp; Sons')
})

t.test('every request and webhook has a page with its path, its fields and its errors', async t => {
  t.ok(operations.length > 50)
  for (const { operationId, path, responses } of operations) {
    const text = await pageAt(operationPath(operationId))
    t.match(text, `<code>${path}</code>`, operationId)
    for (const status of Object.keys(responses)) t.match(text, `>${status}</span>`, `${operationId}: ${status}`)
  }
  for (const name of Object.keys(document.components.schemas)) t.match(await pageAt(schemaPath(name)), name, name)
})

t.test('every link leads to a page and to a heading of it', async t => {
  const first = ['/docs', '/docs/first-request', '/docs/reference', ...guides]
  const paths = new Set([...first, ...operations.map(({ operationId }) => operationPath(operationId))])
  // Most links are in the lists of all pages.
  const known = new Set<string>()
  for (const path of paths) {
    const page = await pageAt(path)
    for (const href of hrefsOf(page)) {
      if (known.has(href)) continue
      if (!href.startsWith('#')) known.add(href)
      if (/^(https?|mailto):/.test(href) || href.startsWith('/console/assets/')) continue
      const [target = '', anchor] = href.split('#')
      const text = target === '' ? page : target.startsWith('/docs') ? await pageAt(target) : undefined
      if (text === undefined) {
        t.ok(
          ['/', '/console', '/v1/openapi.json', '/llms.txt'].includes(target) || target.startsWith('/console/'),
          href,
        )
        continue
      }
      // A comparison of whole pages that do not match takes long.
      t.notOk(/^\d+$/.test(text), `${path}: ${href}`)
      if (anchor) t.ok(text.includes(` id="${anchor}"`), `${path}: ${href}`)
    }
  }
})

t.test('pages hold nothing that the policy for content forbids', async t => {
  const forbidden = /<script(?![^>]* src="\/console\/assets\/)|<style|<[^>]* (?:style|on\w+)=/
  for (const [path, page] of seen) t.equal(forbidden.exec(await page)?.[0], undefined, path)
})

t.test('Markdown with a script stays text', t => {
  const { title, html } = renderPage(
    [
      '# A <b>title</b>',
      '<script>alert(1)</script> and <img src=x onerror=alert(1)>',
      '[a link](javascript:alert(1)) [another](notes.md#x) [a third](https://example.com)',
      '| a | b |\n| --- | --: |\n| one<br>two | 3 |',
      '```sh\necho "<script>"\n```',
    ].join('\n\n'),
    href => (href === 'notes.md#x' ? '/docs/notes#x' : undefined),
  )
  t.equal(title, 'A <b>title</b>')
  t.notMatch(html.__html, /<script|<img|<b>|href="javascript|style=/)
  t.match(html.__html, '&lt;script&gt;alert(1)&lt;/script&gt;')
  t.match(html.__html, '<a href="/docs/notes#x">another</a>')
  t.match(html.__html, /one<br>\s*two/)
  t.match(html.__html, '<a href="https://example.com" rel="noreferrer">')
  t.end()
})

t.test('the reference is for people who are signed in, unless the descriptions are public', async t => {
  for (const path of ['/docs/reference', '/docs/reference/runModel', '/docs/reference/schemas/Run']) {
    const { status, location } = await stranger.get(path)
    t.same([status, location], [303, '/console/sign-in'], path)
  }
  const open = await startService(t, { environment: { PUBLIC_DESCRIPTORS: 'true' } })
  const { status, text } = await new BrowserClient(open.url).get('/docs/reference/runModel')
  t.equal(status, 200)
  t.match(text, 'to send this request from here')
  t.notMatch(text, 'id="try-form"')
})

t.test('what does not exist is not found', async t => {
  for (const path of [
    '/docs/none',
    '/docs/reference/none',
    '/docs/reference/schemas/constructor',
    '/docs/..%2fREADME.md',
  ])
    t.equal((await reader.get(path)).status, 404, path)
})

t.test('files beside the guides are served as they are', async t => {
  const { status, headers, text } = await stranger.get('/docs/verify/verify.mjs')
  t.match([status, headers.get('Content-Type')], [200, /^text\/plain/])
  t.equal(text, await readFile('docs/verify/verify.mjs', 'utf8'))
})

t.test('the first page leads on from the newest key of its reader', async t => {
  t.match((await stranger.get('/guide')).location, '/docs/first-request')
  const customer = new BrowserClient(service.url)
  await customer.signIn(service, 'grace@example.com')
  t.match((await customer.get('/docs/first-request')).text, 'Create new key')
  const { body } = await customer.send<{ api_key: string }>('POST', '/v1/keys', { name: 'website' })
  const { text } = await customer.get('/docs/first-request')
  t.match(textOf(text), new RegExp(`the key website\\s*, which ends in\\s+${body.api_key.slice(-4)}`))
  t.match(text, 'href="/console/keys#name"')
})

t.test('the first command is one for every shell, with a key that nobody takes for one', async t => {
  const command = 'export TOLLGATE_API_KEY=PASTE-YOUR-KEY-HERE'
  t.match(textOf((await stranger.get('/docs/first-request')).text), command)
})

t.test('everyone finds guides, sections and requests, without a script', async t => {
  t.match((await stranger.get('/docs')).text, /<form method="get" action="\/docs\/search"/)
  const found = async (query: string, reader = stranger) => {
    const { text } = await reader.get(`/docs/search?${new URLSearchParams({ q: query })}`)
    const [, results = ''] = /aria-label="Results">(.*?)<\/nav>/s.exec(text) ?? []
    return { text, hrefs: [...results.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href) }
  }
  t.equal((await found('webhooks')).hrefs[0], '/docs/webhooks')
  t.equal((await found('first request')).hrefs[0], '/docs/first-request')
  const [section = ''] = (await found('example client')).hrefs
  t.equal((await stranger.get(section)).status, 200)
  const headings = (await found('seal')).hrefs.filter(href => href.includes('#'))
  t.ok(headings.length > 0)
  for (const href of headings) {
    const [path = '', id] = href.split('#')
    t.match(await pageAt(path), ` id="${id}"`, href)
  }
  for (const [query, href, shown] of [
    ['verify webhook', '/docs/webhooks#receiving', 'Webhooks › Receiving'],
    ['Verifies webhooks', '/docs/webhooks#receiving', 'every library for that standard can verify them'],
    ['webhook signature', '/docs/webhooks#receiving', 'Webhooks follow Standard Webhooks'],
    ['HMAC', '/docs/webhooks#receiving', 'HMAC-SHA256'],
    ['idempot', '/docs/api#retries', 'Send an Idempotency-Key header'],
    ['streaming', '/docs/openai#streams', 'Streams'],
  ] as const) {
    const { hrefs, text } = await found(query)
    t.ok(hrefs.slice(0, 4).includes(href), `${query}: ${hrefs.slice(0, 4)}`)
    t.match(textOf(text), shown, query)
  }
  t.equal((await found('Retries')).hrefs[0], '/docs/api#retries', 'a heading counts more than a text')
  t.same((await found('hmac zebra')).hrefs, [], 'a section has every word')
  const run = '/docs/reference/runModel'
  t.ok((await found('POST /v1/run', reader)).hrefs.includes(run))
  t.notOk((await found('POST /v1/run')).hrefs.includes(run), 'the reference is for people who have signed in')
  const nothing = await found('<i>zzz')
  t.same(nothing.hrefs, [])
  t.match(nothing.text, 'No page has all words of “<bdi>&lt;i>zzz</bdi>”')
})

/** Requests that no test sends for a page: their answers do not end, or end the session. */
const UNSENT = ['rotateWebhookSecret', 'followRun']

t.test('the scopes on the pages are those that the service requires', async t => {
  const scoped = routes.filter(({ auth }) => auth !== 'none' && auth !== 'auditor key')
  for (const scope of ['full', 'read', 'keys'] as const) {
    const customer = await openAccount(service, { scope })
    // A key that may do everything would send messages and change settings.
    const asked = scope === 'full' ? scoped.filter(({ path }) => path.startsWith('/v1/key')) : scoped
    for (const route of asked.filter(({ id }) => !UNSENT.includes(id))) {
      const { method, auth, id } = route
      const path = templateOf(route)
      const { scopes } = accessOf({ method: method.toUpperCase(), path, auth })
      const operation = operations.find(each => each.operationId === id)
      const example = Object.values(operation?.requestBody?.content['application/json']?.examples ?? {})[0]?.value
      const { status, text } = await customer.sendRaw(path.replaceAll(/\{\w+\}/g, 'run_01m7z4hp40enbs019v3tcadvdx'), {
        method: method.toUpperCase(),
        ...(example !== undefined && {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(example),
        }),
      })
      const isForbidden = status === 403 && /scope/.test(text)
      // These check more than the scope, which their pages say.
      if (['/v1/run', '/mcp'].includes(path)) continue
      // A request that is not understood is refused before its scope is looked at.
      if (status !== 400 && status !== 415)
        t.equal(isForbidden, !scopes.includes(scope), `${scope}: ${id} ${status} ${text}`)
    }
  }
})
