import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { Logger } from '../../src/ports/logger.ts'
import { picture, sandbox } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const lines: Record<string, unknown>[] = []
const keep = (level: string) => (facts: object, message: string) => void lines.push({ ...facts, level, message })
const logger: Logger = {
  isLevelEnabled: () => true,
  ...{ debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error'), fatal: keep('fatal') },
}

let appendMs = 0
const stored = openLmdbEventLog(await temporaryFolder(t), error => t.fail(error.message))
const log: EventLog = { ...stored, append: (...append) => delay(appendMs).then(() => stored.append(...append)) }
const service = await startService(t, { log, logger })
const customer = await openAccount(service, { tester: true })

const lineOf = async (requestId: string) => {
  const find = () => lines.find(line => line['requestId'] === requestId)
  await until('the request is logged', async () => find() !== undefined)
  return find()
}

t.test('the line of a request names its account, key, run, model and credits, and nothing of its content', async t => {
  const { body } = await customer.run(picture, { 'X-Request-Id': 'one' })
  const { accountId, keyId } = customer
  const line = await lineOf('one')
  t.match(line, { level: 'info', message: 'request', method: 'POST', path: '/v1/run', status: 200, accountId, keyId })
  t.match(line, { runId: body.run_id, model: body.model, credits: body.credits_charged })
  const text = JSON.stringify(lines)
  t.notMatch(text, picture.input.prompt)
  t.notMatch(text, customer.apiKey)
  t.notMatch(text, '@example.com')
})

t.test('a slow request is a warning that says where the time went, but a slow run is not', async t => {
  appendMs = 2_100
  await customer.run(picture, { 'X-Request-Id': 'slow' })
  appendMs = 0
  const slow = await lineOf('slow')
  t.match(slow, { level: 'warn', message: 'slow request', appendMs: Number, runMs: Number, bodyMs: Number })
  t.ok((slow?.['appendMs'] as number) >= 2_000)
  await customer.run(sandbox({ delay_ms: 2_100 }), { 'X-Request-Id': 'long' })
  t.match(await lineOf('long'), { level: 'info', message: 'request' })
})
