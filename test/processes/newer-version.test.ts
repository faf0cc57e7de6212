import { join } from 'node:path'
import t, { type Test } from 'tap'
import { accountStream } from '../../schemas/events.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { Client } from '../support/client.ts'
import { openAccounts } from '../support/service.ts'
import { ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Appends an event as a newer version does, to an account that this version knows. */
const appendNewer = async (folder: string, accountId: string) => {
  const log = openLmdbEventLog(join(folder, 'log'), error => {
    throw error
  })
  const stream = accountStream(accountId as never)
  let last: RawEvent | undefined
  for await (const page of log.readStream(stream, 0)) last = page.at(-1)
  const { revision, metadata } = last as RawEvent
  const event = {
    id: crypto.randomUUID(),
    type: 'CreditsLent',
    data: {},
    metadata: { ...(metadata as object), format: 5 },
  }
  await log.append(stream, [event], revision)
  await log.close()
}

const NEWER = /ledger format 5, and this version knows none above 4; start the newer version/

const prepared = async (t: Test) => {
  const folder = await temporaryFolder(t)
  const [customer] = await openAccounts(folder, {})
  return { folder, customer }
}

for (const PROJECTOR_THREAD of ['on', 'off'])
  t.test(`a service that meets an event of a newer version ends, with its thread ${PROJECTOR_THREAD}`, async t => {
    const { folder, customer } = await prepared(t)
    const service = await startServiceProcess(t, folder, { PROJECTOR_THREAD })
    await appendNewer(folder, customer.accountId)
    const { code, stdout } = await service.ended
    t.equal(code, 1)
    t.match(stdout, NEWER)
    t.notMatch(stdout, '"msg":"stopping"')

    const next = new ServiceProcess(folder, { PROJECTOR_THREAD })
    t.teardown(() => next.end('SIGKILL'))
    const { code: nextCode, stderr } = await next.ended
    t.equal(nextCode, 1)
    t.match(stderr, NEWER)
    t.notMatch(stderr, /^ +at /m, 'shows no stack')
  })

t.test('a service without a projector ends when it loads the account', async t => {
  const { folder, customer } = await prepared(t)
  // Nobody else would bring the views up to date.
  await (await startServiceProcess(t, folder)).end('SIGTERM')
  const service = await startServiceProcess(t, folder, { ROLES: 'api' })
  const client = new Client(service.url, customer.apiKey)
  t.equal(await client.balance(), 100)
  await appendNewer(folder, customer.accountId)
  await client.run({ model: 'claude-haiku-4-5', input: { prompt: 'Why?' } }).catch(() => undefined)
  const { code, stdout } = await service.ended
  t.equal(code, 1)
  t.match(stdout, NEWER)

  const next = new ServiceProcess(folder, { ROLES: 'api' })
  t.teardown(() => next.end('SIGKILL'))
  t.match(await next.ended, { code: 1, stderr: NEWER })
})
