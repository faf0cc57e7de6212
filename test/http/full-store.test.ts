import { join } from 'node:path'
import t from 'tap'
import { openDiskObjectStore } from '../../src/adapters/object-store/disk.ts'
import { picture } from '../support/client.ts'
import { instantProvider, openAccount, openAccounts, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder(t)
const [opened] = await openAccounts(folder, {})
const objects = await openDiskObjectStore({
  folder: join(folder, 'objects'),
  putSecret: 'secret',
  putUrl: () => 'http://localhost',
  reserveBytes: 2 ** 60,
})
const submitted: string[] = []
const sandbox = {
  ...instantProvider,
  submit: (...[job, signal]: Parameters<typeof instantProvider.submit>) => {
    submitted.push(job.endpoint)
    return instantProvider.submit(job, signal)
  },
}
const service = await startService(t, { folder, objects, providers: { sandbox } })
const customer = opened.at(service.url)

t.test('without room for files, a run of a picture is refused before its provider is paid', async t => {
  const head = await service.core.log.head()
  const { status, headers, body } = await customer.run(picture)
  t.match({ status, body }, { status: 503, body: { error: { code: 'unavailable' } } })
  t.ok(headers.get('Retry-After'))
  t.equal(await service.core.log.head(), head, 'nothing is charged')
  t.same(submitted, [])
})

t.test('without room for files, texts and quotes go on', async t => {
  const text = await customer.run({ model: 'gpt-6-1-terra', input: { prompt: 'a lake' } })
  t.match(text, { status: 200, body: { status: 'completed' } })
  t.equal((await customer.post('/v1/run?dry_run=true', picture)).status, 200)
})

t.test('without room for files, a request that another process has accepted is answered with its run', async t => {
  const roomy = await startService(t, { folder, providers: { sandbox: instantProvider } })
  const headers = { 'Idempotency-Key': 'lake' }
  // From then on, this process knows the account without the run.
  t.equal((await customer.run(picture)).status, 503)
  const { body } = await roomy.client(opened.apiKey).run(picture, headers)
  t.match(await customer.run(picture, headers), { status: 200, body: { run_id: body.run_id } })
})

t.test('without room for its key, no account is opened', async t => {
  await t.rejects(openAccount(service), { name: 'Unavailable', part: 'disk' })
})
