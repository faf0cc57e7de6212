import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Run } from '../../../schemas/api/run.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { openLmdbEventLogReadOnly } from '../../../src/adapters/event-log/lmdb-read-only.ts'
import { verifyLog } from '../../../src/audit/verify/verify.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { Erasure, type ErasureDependencies } from '../../../src/reactors/upkeep/erasure.ts'
import { signedInAt } from '../../support/browser-client.ts'
import { Client, picture } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { auditFolder } from '../../support/ledger.ts'
import { filePart, textPart, upload } from '../../support/multipart.ts'
import { type Receiver, startReceiver, status } from '../../support/receiver.ts'
import { type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { unwrap } from '../../support/unwrap.ts'

const operator = { kind: 'operator', name: 'test' } as const
const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }

/** A text that is nowhere else. */
const mark = (what: string) => `personal-${what}-${crypto.randomUUID().slice(0, 8)}`

const typesOf = async ({ core }: Service, accountId: AccountId) =>
  (await collect(core.log.readStream(accountStream(accountId), 0))).map(({ type }) => type)

/** The paths of the files below a folder, and the texts among some that they hold. Mail is not part of the service. */
const filesIn = async (folder: string, texts: readonly string[]) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const found = new Set<string>()
  for (const path of paths) {
    const bytes = path.includes('outbox') ? Buffer.alloc(0) : await readFile(path)
    for (const text of texts) if (bytes.includes(text)) found.add(`${text} in ${path.slice(folder.length + 1)}`)
  }
  return { paths: paths.map(path => path.slice(folder.length + 1)), found: [...found] }
}

/** An account with every kind of personal data. */
const openPerson = async (service: Service, receiver: Receiver) => {
  const [email, prompt, metadata] = [`${mark('email')}@example.com`, mark('prompt'), mark('metadata')]
  const [hook, notices, filename, folder, text] = [...'hnfdt'].map(mark) as [string, string, string, string, string]
  const browser = await signedInAt(service, email)
  const { body } = await browser.send<{ api_key: string }>('POST', '/v1/keys', { name: 'first' })
  const client = new Client(service.url, body.api_key)
  const { account } = unwrap(await service.core.services.accounts.findByEmail(operator, email))
  const sending = { webhook_url: `${receiver.url}${hook}`, metadata: { order: metadata } }
  const run = await client.run({ ...picture, input: { prompt }, ...sending })
  const said = await client.run({ model: 'gpt-6-1-terra', input: { messages: [{ role: 'user', content: text }] } })
  const stored = await upload(
    client,
    filePart(await readFile('test/fixtures/signed.png'), 'image/png', `filename="${filename}.png"`),
    textPart('folder_path', folder),
  )
  const set = await client.send('/v1/notices', {
    ...{ method: 'PUT', headers: { 'Content-Type': 'application/json' } },
    body: JSON.stringify({ url: `${receiver.url}${notices}`, balance_under_credits: 1 }),
  })
  t.match([run.status, said.status, stored.status, set.status], [200, 200, 200, 200])
  const marks = [email, prompt, metadata, hook, notices, filename, folder, text]
  return { accountId: account.accountId, email, browser, client, run: run.body as Run, marks }
}

const untilErased = (service: Service, accountId: AccountId) =>
  until('the account is erased', async () => (await typesOf(service, accountId)).includes('ErasureCompleted'))

t.test('the personal data of an erased account is nowhere on the disk', async t => {
  const folder = await temporaryFolder(t)
  const receiver = await startReceiver(t, status(500))
  const service = await startService(t, { folder, environment })
  const [person, other] = [await openPerson(service, receiver), await openPerson(service, receiver)]
  const balance = await person.client.balance()
  await receiver.until(1)

  const { accountId, browser } = person
  t.match(await browser.post('/console/settings/erase', { account: 'another' }), {
    ...{ status: 400, text: /This is not the ID of the account/ },
  })
  t.match(await browser.post('/console/settings/erase', { account: accountId }), { status: 303, location: '/' })
  t.equal((await person.client.send('/v1/balance')).status, 401)
  await untilErased(service, accountId)
  t.equal((await other.client.send(`/v1/runs/${other.run.run_id}`)).status, 200)
  await service.stop()

  const { paths, found } = await filesIn(folder, person.marks)
  t.same(found, [])
  t.equal(paths.filter(path => path.startsWith('objects/vault/')).length, 2)
  t.equal(paths.filter(path => /^objects\/(outputs|uploads)\//.test(path)).length, 2, 'those of the other account')

  const { ledgers, faults } = await auditFolder(folder)
  t.same(faults, [], 'the links hold, and views that are made again are the same')
  t.equal((ledgers.get(accountId)?.balanceMicros ?? 0) / 1_000_000, balance)
  const log = openLmdbEventLogReadOnly(join(folder, 'log'))
  t.same((await verifyLog(log, { isDense: true }))?.faults, [])
  await log.close()
  const again = await startService(t, { folder, environment })
  t.match((await other.client.at(again.url).send<Run>(`/v1/runs/${other.run.run_id}`)).body, { status: 'completed' })
})

t.test('an attempt that another process records meanwhile does not hold up the erasure', async () => {
  const deliveries = new Map([['run_1', { attempts: 0 }]])
  const accounts = {
    currentState: async () => {
      const state = { deliveries: new Map(deliveries), noticeDeliveries: new Map(), identities: [] }
      if (deliveries.size > 0) deliveries.set('run_1', { attempts: 1 })
      return state
    },
    execute: async (_caller: unknown, _accountId: AccountId, command: AccountCommand) => {
      if (command.type === 'RecordDelivery' && command.attempt === 2) deliveries.clear()
      if (command.type === 'CompleteErasure') t.equal(deliveries.size, 0)
    },
  }
  const nothing = async () => undefined
  const reads = { scan: async function* () {}, list: async () => [], ownWrites: nothing }
  const others = { logins: {}, vault: { destroy: nothing }, reads, views: { deleteSnapshots: nothing } }
  await new Erasure({ accounts, ...others } as unknown as ErasureDependencies, nothing).erase('acct_1' as AccountId)
  t.equal(deliveries.size, 0)
})
