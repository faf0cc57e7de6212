import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Run } from '../../../schemas/api/run.ts'
import type { Upload, UploadList } from '../../../schemas/api/upload.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { picture as pictureRequest } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { filePart, upload } from '../../support/multipart.ts'
import { picture } from '../../support/sample-files.ts'
import { type Customer, openAccount, type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const environment = { UPLOAD_RETENTION_DAYS: '3', OUTPUT_RETENTION_DAYS: '5' }
const png = await picture('png')

const provider: Provider = {
  submit: async () => ({ kind: 'done', media: [{ mimeType: 'image/png', bytes: png }], text: 'A lighthouse.' }),
}

/** Starts services on one folder, one after the other, each at its own time. */
const openPlace = async (t: Test) => {
  const folder = await temporaryFolder(t)
  const startMs = Date.now()
  const startAfter = (ms: number, variables = environment): Promise<Service> => {
    const clock = new ManualClock(startMs + ms)
    return startService(t, { folder, clock, environment: variables, providers: { sandbox: provider } })
  }
  const filesIn = (name: string) => readdir(join(folder, 'objects', name)).catch(() => [])
  const files = async () => [...(await filesIn('uploads')), ...(await filesIn('outputs'))]
  return { startMs, startAfter, files }
}

const typesOf = async ({ core }: Service, { accountId }: Customer) =>
  (await collect(core.log.readStream(accountStream(accountId), 0))).map(({ type }) => type)

const untilRecorded = (service: Service, customer: Customer, type: string) =>
  until(`${type} is recorded`, async () => (await typesOf(service, customer)).includes(type))

const statusOf = async ({ url }: Service, address: string) => (await fetch(url + new URL(address).pathname)).status

t.test('an upload is deleted at the end of its retention and then returns 404', async t => {
  const { startMs, startAfter, files } = await openPlace(t)
  const first = await startAfter(0)
  const customer = await openAccount(first)
  const body = (await upload(customer, filePart(png))).body as Upload
  t.equal(body.will_delete_at, new Date(startMs + 3 * DAY_MS).toISOString())
  t.equal(await statusOf(first, body.url), 200)
  await first.stop()

  const second = await startAfter(3 * DAY_MS)
  await untilRecorded(second, customer, 'UploadDeleted')
  const client = customer.at(second.url)
  t.equal(await statusOf(second, body.url), 404)
  t.equal((await client.send(`/v1/uploads/${body.id}`)).status, 404)
  t.equal((await client.send(`/v1/uploads/${body.id}`, { method: 'DELETE' })).status, 404)
  t.same((await client.send<UploadList>('/v1/uploads')).body.data, [])
  const { pathname } = new URL(body.url)
  const { body: refused } = await client.run({
    model: 'nano-banana-2',
    input: { prompt: 'add a boat', image_url: second.url + pathname },
  })
  t.match(refused.error, { code: 'invalid_input', errors: [{ path: '/input/image_url' }] })
  t.same(await files(), [])
})

t.test('the output of a run is deleted at the end of its retention, and the run says so', async t => {
  const { startMs, startAfter, files } = await openPlace(t)
  const first = await startAfter(0)
  const customer = await openAccount(first)
  await upload(customer, filePart(png))
  const { body: made } = await customer.run(pictureRequest)
  const url = String(made.output?.url)
  t.match(made.output, {
    urls: [url],
    text: 'A lighthouse.',
    will_delete_at: new Date(startMs + 5 * DAY_MS).toISOString(),
  })
  t.equal(await statusOf(first, url), 200)
  t.equal((await files()).length, 2)
  await first.stop()

  // The retention at the time of the run applies, not the current one.
  const second = await startAfter(5 * DAY_MS - 1, { ...environment, OUTPUT_RETENTION_DAYS: '1' })
  await untilRecorded(second, customer, 'UploadDeleted')
  t.equal(await statusOf(second, url), 200)
  t.same(
    (await customer.at(second.url).send(`/v1/runs/${made.run_id}`)).body.output?.will_delete_at,
    made.output?.will_delete_at,
  )
  await second.stop()

  const third = await startAfter(5 * DAY_MS)
  await untilRecorded(third, customer, 'RunOutputDeleted')
  const { body: ended } = await customer.at(third.url).send<Run>(`/v1/runs/${made.run_id}`)
  t.match(ended, { status: 'completed', credits_charged: made.credits_charged })
  const { provenance } = made.output ?? {}
  t.match(provenance, [{ c2pa: 'absent' }])
  const deletedAt = new Date(startMs + 5 * DAY_MS).toISOString()
  t.same(ended.output, { text: 'A lighthouse.', provenance, deleted_at: deletedAt })
  t.equal(await statusOf(third, url), 404)
  t.same(await files(), [])
})
