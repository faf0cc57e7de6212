import t from 'tap'
import type { Reply } from '../support/client.ts'
import { type FormPart, filePart, upload } from '../support/multipart.ts'
import * as files from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'

const service = await startService(t)
const customer = await openAccount(service)
const png = await files.picture('png')

const json = { 'Content-Type': 'application/json' }
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = json): Promise<Reply> =>
  customer.send(path, { method: 'POST', headers, body })
const run = (prompt: string) => JSON.stringify({ model: 'nano-banana-2', input: { prompt } })

t.test('a body that is not UTF-8 is refused before it is parsed, without a charge', async t => {
  const headers = { ...json, 'Idempotency-Key': 'k' }
  for (const name of ['Müller', 'Möller']) {
    const { status, body } = await post('/v1/run', latin1(run(name)), headers)
    t.equal(status, 400)
    t.match(body.error, { code: 'invalid_request', message: 'The body is not in UTF-8.', errors: [{ path: '' }] })
  }
  for (const path of ['/v1/run', '/v1/uploads/presigned']) t.equal((await post(path, latin1('{"é":'))).status, 400)
  t.equal(await customer.balance(), 100)
  t.equal((await post('/v1/run?dry_run=true', run('Müller'))).status, 200)
  t.equal((await post('/v1/run?dry_run=true', `\ufeff${run('Müller')}`)).status, 200, 'with a byte order mark')
})

t.test('a body that names another encoding is refused with its name', async t => {
  for (const charset of ['iso-8859-1', 'windows-1252', 'utf-16', 'us-ascii']) {
    const { status, body } = await post('/v1/run', run('hello'), {
      'Content-Type': `application/json; charset=${charset}`,
    })
    t.equal(status, 400)
    t.match(body.error, { code: 'unsupported_media_type', message: `The body must be in UTF-8, not in ${charset}.` })
  }
  for (const charset of ['utf-8', 'UTF-8', '"utf-8"', 'utf8']) {
    const headers = { 'Content-Type': `application/json; charset=${charset}` }
    t.equal((await post('/v1/run?dry_run=true', run('hello'), headers)).status, 200, charset)
  }
})

t.test('a message of an agent is UTF-8 too', async t => {
  const params = { name: 'run_model', arguments: { model: 'nano-banana-2', input: { prompt: 'Müller' } } }
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const { status, text } = await post('/mcp', latin1(message))
  t.equal(status, 400)
  t.match(JSON.parse(text), { error: { code: -32700, message: 'The body is not in UTF-8.' } })
  const named = await post('/mcp', message, { 'Content-Type': 'application/json; charset=iso-8859-1' })
  t.match(named.body.error, { code: 'unsupported_media_type', message: /iso-8859-1/ })
  t.equal(await customer.balance(), 100)
})

t.test('the texts of a form are UTF-8', async t => {
  const folder = (body: Uint8Array, type = ''): FormPart => ({
    headers: `Content-Disposition: form-data; name="folder_path"${type && `\r\nContent-Type: ${type}`}`,
    body,
  })
  const named = filePart(png, 'image/png', 'filename="Müller.png"')
  const mangled = { ...named, headers: latin1(String(named.headers)) }
  for (const [parts, code] of [
    [[folder(latin1('Müller')), filePart(png)], 'invalid_multipart'],
    [[mangled], 'invalid_multipart'],
    [[folder(latin1('Müller'), 'text/plain; charset="iso-8859-1"'), filePart(png)], 'unsupported_media_type'],
  ] as const) {
    const { status, body } = await upload(customer, ...parts)
    t.equal(status, 400)
    t.equal(body.error.code, code)
  }
  t.equal((await upload(customer, named)).body.filename, 'Müller.png')
  const { body } = await upload(customer, folder(Buffer.from('Müller'), 'text/plain; charset=UTF-8'), filePart(png))
  t.equal(body.folder_path, 'Müller')
})

t.test('a query is UTF-8', async t => {
  t.equal((await customer.send('/v1/runs?label=M%FCller')).status, 400)
  t.equal((await customer.send('/v1/runs?label=M%C3%BCller')).status, 200)
  t.equal((await customer.send('/v1/runs?label=100%')).status, 200)
})

t.test('a form of a page is UTF-8', async t => {
  const type = 'application/x-www-form-urlencoded'
  const page = await fetch(`${service.url}/console/sign-in`)
  const token = `&form_token=${/ name="form_token" value="([^"]+)"/.exec(await page.text())?.[1]}`
  const cookie = page.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const signIn = (body: string | Uint8Array, charset = '') =>
    fetch(`${service.url}/console/sign-in`, {
      ...{ method: 'POST', redirect: 'manual', body },
      headers: { 'Content-Type': `${type}${charset}`, Accept: 'application/json', cookie },
    })
  for (const [answer, message] of [
    [await signIn('email=m%FCller@example.com'), /"The form is not in UTF-8\."/],
    [await signIn(latin1('email=müller@example.com')), /"The form is not in UTF-8\."/],
    [await signIn('email=ada@example.com', '; charset=iso-8859-1'), /not in iso-8859-1/],
  ] as const) {
    t.equal(answer.status, 400)
    t.match(await answer.text(), message)
  }
  t.equal((await signIn(`email=ada%40example.com${token}`, '; charset=UTF-8')).status, 303)
})
