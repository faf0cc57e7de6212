import t from 'tap'
import type { Logger } from '../../src/ports/logger.ts'
import { sandbox } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'
import { call, connect, post, refusal, request, revisions } from './support.ts'

const lines: string[] = []
const reasons: string[] = []
const keep = (level: string) => (facts: object, message: string) => {
  const { path, tool, reason } = facts as { path?: string; tool?: string; reason?: string }
  if (reason !== undefined) reasons.push(reason)
  if (message === 'request' && path === '/mcp') lines.push(`${level} ${tool}`)
}
const quiet = () => undefined
const logger: Logger = {
  isLevelEnabled: () => true,
  ...{ debug: keep('debug'), info: keep('info'), warn: quiet, error: quiet, fatal: quiet },
}

for (const revision of revisions)
  t.test(`the log line of a request names its tool; reads are logged at a lower level (${revision})`, async t => {
    const service = await startService(t, { logger })
    const customer = await openAccount(service, { tester: true })
    const client = await connect(t, customer, revision)
    lines.length = 0
    await call(client, 'get_balance')
    await call(client, 'run_model', sandbox())
    await refusal(client, 'get_run', { run_id: 'none' })
    await post(customer, request(revision, 'tools/list'))
    await post(customer, request(revision, 'tools/call', { name: 'none-of-ours', arguments: {} }))
    // The line may be written after the answer.
    await service.stop()
    t.same(lines, ['debug get_balance', 'info run_model', 'debug get_run', 'debug undefined', 'debug undefined'])
  })

t.test('the log line of a refused message repeats little of it', async t => {
  const service = await startService(t, { logger })
  const customer = await openAccount(service)
  const { headers, message } = request('2026-07-28', 'tools/list')
  const { status } = await post(customer, { headers, message: { ...message, method: 'x'.repeat(100_000) } })
  t.equal(status, 400)
  t.match(reasons, [/method-header-mismatch/])
  t.ok(reasons.every(({ length }) => length <= 200))
})
