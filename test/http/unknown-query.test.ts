import t from 'tap'
import { routes } from '../../src/http/routes.ts'
import { picture } from '../support/client.ts'
import { filePart, formOf, formType } from '../support/multipart.ts'
import * as files from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { unwrap } from '../support/unwrap.ts'

const service = await startService(t, { environment: { PUBLIC_DESCRIPTORS: 'true' } })
const customer = await openAccount(service)
const operator = { kind: 'operator', name: 'test' } as const
const auditor = service.client(unwrap(await service.core.services.auditors.create(operator, 'ada')).apiKey)

t.test('every operation of the API refuses unknown query parameters, and names those that it knows', async t => {
  const ofApi = routes.filter(({ path }) => path.startsWith('/v1/'))
  t.ok(ofApi.length > 10)
  for (const { id, method, path, query, json, auth } of ofApi) {
    const known = Object.keys(query?.properties ?? {})
    const target = path.replace(':id', 'run_01m7z4hp40enbs019v3tcadvdx')
    const needed = (query?.required ?? [])
      .map(name => `${name}=${name === 'account' ? customer.accountId : 1}&`)
      .join('')
    const { status, body } = await (auth === 'auditor key' ? auditor : customer).send(
      `${target}?${needed}dryrun=true`,
      {
        method: method.toUpperCase(),
        ...(json && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(picture) }),
      },
    )
    t.equal(status, 400, id)
    const expected = known.length > 0 ? `expected one of ${known.join(', ')}` : 'this request takes no query parameters'
    const message = `is unknown; ${expected}`
    t.match(body.error, {
      code: 'invalid_request',
      message: `Invalid query: /dryrun ${message}.`,
      errors: [{ path: '/dryrun', message }],
    })
  }
})

t.test('nothing is charged or stored', async t => {
  const form = { headers: { 'Content-Type': formType }, body: formOf(filePart(await files.picture('png'))) }
  t.equal((await customer.post('/v1/run?Dry_run=true', picture)).status, 400)
  t.equal((await customer.send('/v1/uploads?folder_path=a', { method: 'POST', ...form })).status, 400)
  t.equal(await customer.balance(), 100)
  for (const list of ['/v1/runs', '/v1/uploads']) t.match((await customer.send(list)).body, { data: [] })
})

t.test('a parameter named like an object property is unknown too', async t => {
  for (const name of ['__proto__', 'constructor', 'toString'])
    t.match((await customer.send(`/v1/balance?${name}=1`)).body.error?.errors, [{ path: `/${name}` }])
})

t.test('other paths ignore their query', async t => {
  for (const path of ['/healthz', '/readyz', '/llms.txt', '/.well-known/mcp'])
    t.equal((await customer.send(`${path}?probe=1`)).status, 200, path)
})
