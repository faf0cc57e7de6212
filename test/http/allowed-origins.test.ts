import t from 'tap'
import type { Balance } from '../../schemas/api/balance.ts'
import { picture } from '../support/client.ts'
import type { Document } from '../support/document-parts.ts'
import { openAccount, startService } from '../support/service.ts'

const ALLOWED = 'https://app.example.com'
const service = await startService(t, {
  environment: { ALLOWED_ORIGINS: `http://localhost:6274,${ALLOWED.toUpperCase().replace('HTTPS', 'https')}:443` },
})
const customer = await openAccount(service)

const preflight = (path: string, origin: string, method: string, headers: string) =>
  fetch(customer.url + path, {
    method: 'OPTIONS',
    headers: { Origin: origin, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': headers },
  })

const listIn = (headers: Headers, name: string) => new Set(headers.get(name)?.toLowerCase().split(/, ?/))

t.test('pages of allowed sites can call the API and read its answers', async t => {
  for (const origin of [ALLOWED, 'http://localhost:6274']) {
    const headers = { Origin: origin }
    const answers = [
      await customer.send<Balance>('/v1/balance', { headers }),
      await customer.run(picture, headers),
      await customer.send('/v1/models', { headers }),
      await customer.send('/v1/openapi.json', { headers }),
      await customer.send('/v1/runs/run_0', { headers }),
      await customer.send('/v1/nothing', { headers }),
      await customer.send('/v1/run', { headers }),
      await service.client().send('/v1/balance', { headers }),
    ]
    t.same(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 404, 404, 405, 401],
    )
    for (const { headers } of answers) {
      t.equal(headers.get('Access-Control-Allow-Origin'), origin)
      t.equal(headers.get('Access-Control-Allow-Credentials'), null)
      t.match(headers.get('Vary'), /\bOrigin\b/)
    }
  }
})

t.test('events of a run can be read too', async t => {
  const { run_id } = (await customer.run(picture)).body
  const { headers, text } = await customer.send(`/v1/runs/${run_id}/events`, { headers: { Origin: ALLOWED } })
  t.equal(headers.get('Access-Control-Allow-Origin'), ALLOWED)
  t.match(headers.get('Content-Type'), 'text/event-stream')
  t.equal(headers.get('Content-Encoding'), null)
  t.match(text, /^event: ?run$/m)
})

t.test('a preflight without a key allows every method and header of the document, and its answer headers', async t => {
  const { body: document } = await customer.send<Document>('/v1/openapi.json')
  const { headers: exposing } = await customer.send('/v1/balance', { headers: { Origin: ALLOWED } })
  const exposed = listIn(exposing, 'Access-Control-Expose-Headers')
  const shared = document.components as unknown as Record<string, Record<string, Described>>
  const resolve = (one: Described): Described => {
    const [, , type = '', name = ''] = one.$ref?.split('/') ?? []
    return one.$ref === undefined ? one : (shared[type]?.[name] as Described)
  }
  for (const [path, item] of Object.entries(document.paths)) {
    if (!path.startsWith('/v1/')) continue
    for (const [method, operation] of Object.entries(item)) {
      const { parameters, responses } = operation as unknown as {
        parameters: Described[]
        responses: Record<string, Described>
      }
      const sent = parameters.map(resolve).flatMap(({ in: place, name = '' }) => (place === 'header' ? [name] : []))
      const asked = ['Authorization', 'Content-Type', ...sent].map(name => name.toLowerCase())
      const answer = await preflight(path, ALLOWED, method.toUpperCase(), asked.join())
      t.equal(answer.status, 204)
      t.equal(answer.headers.get('Access-Control-Allow-Origin'), ALLOWED)
      t.ok(listIn(answer.headers, 'Access-Control-Allow-Methods').has(method), `${method} ${path}`)
      const allowed = listIn(answer.headers, 'Access-Control-Allow-Headers')
      for (const name of asked) t.ok(allowed.has(name), name)
      for (const response of Object.values(responses))
        for (const name of Object.keys(resolve(response).headers ?? {}))
          if (!SAFE.has(name)) t.ok(exposed.has(name.toLowerCase()), name)
    }
  }
})

t.test('pages of other sites can neither send nor read', async t => {
  for (const origin of ['https://evil.example.com', 'http://app.example.com', `${ALLOWED}.evil.example.com`, 'null']) {
    const { status, headers } = await customer.send('/v1/balance', { headers: { Origin: origin } })
    t.equal(status, 200, 'browsers alone keep the answer from the page')
    t.equal(headers.get('Access-Control-Allow-Origin'), null, origin)
    const answer = await preflight('/v1/run', origin, 'POST', 'authorization')
    t.equal(answer.headers.get('Access-Control-Allow-Origin'), null)
    t.equal(answer.headers.get('Access-Control-Allow-Methods'), null)
  }
})

t.test('no site is allowed by default, and no other path concerns pages', async t => {
  const closed = await startService(t)
  const origin = { headers: { Origin: ALLOWED } }
  const { headers } = await (await openAccount(closed)).send('/v1/balance', origin)
  t.equal(headers.get('Access-Control-Allow-Origin'), null)
  for (const path of ['/healthz', '/llms.txt'])
    t.equal((await customer.send(path, origin)).headers.get('Access-Control-Allow-Origin'), null, path)
})

/** Headers that browsers show to pages anyway. */
const SAFE = new Set(['Cache-Control', 'Content-Type'])

interface Described {
  $ref?: string
  in?: string
  name?: string
  headers?: object
}
