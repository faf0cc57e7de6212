import { Script } from 'node:vm'
import t from 'tap'
import type { Document } from '../support/document-parts.ts'
import { openAccount, startService } from '../support/service.ts'

const service = await startService(t)
const visitor = service.client()

/** The paths that the page loads, in order. */
const partsOf = (html: string) => [...html.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path]) => path ?? '')

const page = await visitor.send<string>('/docs')

t.test('the page is public and may load only from the service', async t => {
  t.equal(page.status, 200)
  t.equal(page.headers.get('Content-Type'), 'text/html; charset=utf-8')
  const policy = new Map(
    (page.headers.get('Content-Security-Policy') ?? '').split('; ').map(rule => {
      const [name = '', ...sources] = rule.split(' ')
      return [name, sources]
    }),
  )
  t.same(policy.get('default-src'), ["'none'"])
  const sources = new Set([...policy.values()].flat())
  t.same(sources, new Set(["'none'", "'self'", 'data:', 'blob:']))
  t.same(policy.get('script-src'), ["'self'"])
  t.equal(page.headers.get('X-Content-Type-Options'), 'nosniff')
  t.equal(page.headers.get('Referrer-Policy'), 'no-referrer')
})

t.test('every part of the page is served with its content type', async t => {
  const parts = partsOf(page.body)
  t.same(parts, ['/docs/swagger-ui.css', '/docs/page.css', '/docs/swagger-ui-bundle.js', '/docs/init.js'])
  for (const path of parts) {
    const { status, headers, text } = await visitor.send(path)
    t.equal(status, 200, path)
    const isScript = path.endsWith('.js')
    t.equal(headers.get('Content-Type'), isScript ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8')
    if (isScript) t.doesNotThrow(() => new Script(text), path)
  }
  t.notMatch(page.body, /<script>|<style|\son\w+=|\sstyle=/, 'the page has nothing that its policy forbids')
})

t.test('the licence notices of the viewer are served', async t => {
  const { text: bundle } = await visitor.send('/docs/swagger-ui-bundle.js')
  const named = /license information please see (\S+)/.exec(bundle)?.[1]
  t.equal((await visitor.send(`/docs/${named}`)).status, 200)
})

t.test('the page, its script and its styles name no other host and store no key', async t => {
  const parts = await Promise.all(['/docs/init.js', '/docs/page.css'].map(path => visitor.send<string>(path)))
  for (const text of [page.body, ...parts.map(part => part.body)]) {
    t.notMatch(text, /\bhttps?:|["'(]\/\//)
    t.notMatch(text, /localStorage|sessionStorage|cookie|indexedDB/)
  }
})

t.test('the security scheme and the elements that the script uses exist', async t => {
  const { body: script } = await visitor.send<string>('/docs/init.js')
  const scheme = /preauthorizeApiKey\('(\w+)'/.exec(script)?.[1] ?? ''
  const address = /fetch\('([^']+)'/.exec(script)?.[1] ?? ''
  const customer = await openAccount(service)
  const { body } = await customer.send<{ components: { securitySchemes: Record<string, object> } }>(address)
  t.match(body.components.securitySchemes[scheme], { type: 'http', scheme: 'bearer' })
  const ids = [...script.matchAll(/getElementById\('([\w-]+)'\)|dom_id: '#([\w-]+)'/g)].map(([, id, dom]) => id ?? dom)
  t.ok(ids.length >= 4)
  for (const id of ids) t.match(page.body, `id="${id}"`)
})

t.test('the styled classes exist in the viewer and the hidden columns are empty', async t => {
  const { body: style } = await visitor.send<string>('/docs/page.css')
  const { text: bundle } = await visitor.send('/docs/swagger-ui-bundle.js')
  const rules = style.split('\n').filter(line => line.includes('.swagger-ui '))
  const names = new Set(rules.flatMap(rule => rule.match(/(?<=\.)[a-z][\w-]+/g) ?? []))
  // The first class is our own; the viewer composes the second at run time.
  for (const name of ['dark-mode', 'opblock-put']) names.delete(name)
  t.ok(names.has('response-col_links'))
  for (const name of names) t.match(bundle, new RegExp(`[" ]${name}[" ]`), name)
  const customer = await openAccount(service)
  const { text: description } = await customer.send('/v1/openapi.json')
  const { paths } = JSON.parse(description) as Document
  for (const { operationId, responses } of Object.values(paths).flatMap(path => Object.values(path)))
    for (const response of Object.values(responses)) t.notOk('links' in response, operationId)
})

t.test('clients that hold the current version of a part get 304', async t => {
  for (const path of ['/docs', ...partsOf(page.body)]) {
    const { headers } = await visitor.sendRaw(path)
    t.equal(headers.get('Cache-Control'), 'no-cache', path)
    const again = await visitor.sendRaw(path, { headers: { 'If-None-Match': headers.get('ETag') ?? '' } })
    t.same([again.status, again.text], [304, ''], path)
  }
})

t.test('the viewer is compressed for clients that accept gzip', async t => {
  const path = '/docs/swagger-ui-bundle.js'
  const plain = await visitor.sendRaw(path, { method: 'HEAD' })
  const zipped = await visitor.sendRaw(path, { method: 'HEAD', headers: { 'Accept-Encoding': 'gzip, br' } })
  t.equal(zipped.headers.get('Content-Encoding'), 'gzip')
  t.ok(Number(zipped.headers.get('Content-Length')) < Number(plain.headers.get('Content-Length')) / 3)
  const { text } = await visitor.send(path)
  t.equal(Buffer.byteLength(text), Number(plain.headers.get('Content-Length')))
})

t.test('other files of the package are not served', async t => {
  for (const name of [
    'package.json',
    'index.html',
    'swagger-ui-bundle.js.map',
    '__proto__',
    'constructor',
    '..%2fapp.ts',
  ]) {
    const { status, text } = await visitor.sendRaw(`/docs/${name}`)
    t.equal(status, 404, name)
    t.equal(JSON.parse(text).error.code, 'not_found')
  }
})
