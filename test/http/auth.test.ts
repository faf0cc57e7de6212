import t from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import { caughtUp } from '../support/caught-up.ts'
import { openAccount, startService } from '../support/service.ts'
import { traceLog } from '../support/trace-log.ts'

const service = await startService(t)
const customer = await openAccount(service)

const guarded = [
  ['GET', '/v1/balance'],
  ['GET', '/v1/models'],
  ['GET', '/v1/runs'],
  ['GET', '/v1/runs/run_01h455vb4pex5vsknk084sn02q'],
  ['POST', '/v1/run'],
] as const

t.test('requests without a valid key get 401 before their body is read', async t => {
  const { apiKey } = customer
  const bad = {
    none: undefined,
    empty: '',
    'no scheme': apiKey,
    'another scheme': `Basic ${apiKey}`,
    'no key': 'Bearer ',
    'two keys': `Bearer ${apiKey} ${apiKey}`,
    'part of a key': `Bearer ${apiKey.slice(0, -1)}`,
    'a key with an extra character': `Bearer ${apiKey}0`,
    'upper case': `Bearer ${apiKey.toUpperCase()}`,
    'a key with an ellipsis': `Bearer tg_sk_live_${Buffer.from('…').toString('latin1')}${apiKey.slice(-4)}`,
    unknown: `Bearer tg_sk_live_${'0'.repeat(32)}`,
    'far too long': `Bearer ${'x'.repeat(10_000)}`,
  }
  const stranger = service.client()
  for (const [name, Authorization] of Object.entries(bad))
    for (const [method, path] of guarded) {
      const headers: Record<string, string> = Authorization === undefined ? {} : { Authorization }
      // This body would be refused if it were read.
      const {
        status,
        headers: answered,
        body,
      } = await stranger.send(path, {
        method,
        headers,
        ...(method === 'POST' && { body: 'no JSON' }),
      })
      t.equal(status, 401, `${name}: ${path}`)
      t.equal(answered.get('WWW-Authenticate'), 'Bearer')
      t.equal(body.error.code, 'invalid_api_key')
      if (/scheme|two|ellipsis|long/.test(name)) t.match(body.error.message, 'holds no whole key', name)
    }
})

t.test('a request without a key learns where to get one', async t => {
  const { body } = await service.client().send<ErrorBody>('/v1/balance')
  t.match(body.error.message, `Sign in at ${service.url}/console to create one.`)
})

t.test('the case of the scheme does not matter', async t => {
  const headers = { Authorization: `bEARER ${customer.apiKey}` }
  t.equal((await service.client().send('/v1/balance', { headers })).status, 200)
})

t.test('the key may follow several spaces', async t => {
  const headers = { Authorization: `Bearer  ${customer.apiKey}` }
  t.equal((await service.client().send('/v1/balance', { headers })).status, 200)
})

t.test('a revoked key gets the same answer as an unknown one', async t => {
  const { accounts } = service.core
  const revoked = await openAccount(service)
  const other = await openAccount(service)
  t.equal((await revoked.send('/v1/balance')).status, 200)
  const command = { type: 'RevokeApiKey', keyId: revoked.keyId } as const
  await accounts.execute({ kind: 'operator', name: 'test' }, revoked.accountId, command)
  await caughtUp(service.core)
  const headers = { 'X-Request-Id': 'same' }
  const refused = await revoked.send('/v1/balance', { headers })
  const unknown = await service.client('tg_sk_live_0').send('/v1/balance', { headers })
  t.equal(refused.status, 401)
  t.equal(refused.text, unknown.text)
  t.equal((await other.send('/v1/balance')).status, 200)
})

t.test('the health check needs no key', async t => {
  for (const path of ['/healthz', '/readyz']) t.equal((await service.client().send(path)).status, 200)
})

t.test('keys are never logged, even when a client puts one in a path', async t => {
  const { logger, logged } = await traceLog(t)
  const service = await startService(t, { logger })
  const { apiKey: known } = await openAccount(service)
  const unknown = `tg_sk_live_${'f'.repeat(32)}`
  for (const key of [known, unknown]) {
    const client = service.client(key)
    await client.send('/v1/balance')
    await client.send(`/v1/runs/${key}`)
    await client.send(`/cdn/${key}/${key}?key=${key}`)
    await client.send('/v1/balance', { headers: { 'X-Request-Id': key } })
    await client.run({ model: key, input: { prompt: key }, metadata: { [key]: key } })
  }
  await service.stop()
  const lines = await logged(/("msg":"request".*\n[\s\S]*){10}/)
  for (const key of [known, unknown]) t.notOk(lines.includes(key.slice(-32)))
})
