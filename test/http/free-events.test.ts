import t from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import { FREE_EVENTS } from '../../src/domain/account/limits.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { connect, refusal } from '../mcp/support.ts'
import { grantUpload, uploadId } from '../support/account-samples.ts'
import { picture, type Reply } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { filePart, upload } from '../support/multipart.ts'
import { pngWith, picture as sample } from '../support/sample-files.ts'
import { instantProvider, openAccount, openKey, startService } from '../support/service.ts'
import { PNG_REQUEST } from '../support/uploads.ts'

const clock = new ManualClock()
const service = await startService(t, { clock, providers: { sandbox: instantProvider } })
const { core } = service
const png = await sample('png')

const eventCount = async () => (await collect(core.log.readAll(BEFORE_FIRST))).length

const assertRefused = ({ status, headers, body }: Reply<ErrorBody>, message: RegExp) => {
  t.equal(status, 429)
  const seconds = Number(headers.get('Retry-After'))
  t.ok(seconds >= 1 && seconds <= 3600, `it waits ${seconds} s`)
  t.match(body.error, { code: 'rate_limited', message })
  return seconds
}

t.test('test runs have a limit of bytes, and paid runs have none', async t => {
  const live = await openAccount(service)
  const test = await openKey(service, live, { livemode: false })
  const large = pngWith(png, 'tEXt', Buffer.alloc(142_600, 'x'))
  const image_url = `data:image/png;base64,${large.toString('base64')}`
  const request = { model: 'nano-banana-2', input: { prompt: 'as a drawing', image_url } }
  const earlier = { 'Idempotency-Key': 'earlier' }
  const { body: first } = await test.run(request, earlier)

  const replies = await Promise.all(Array.from({ length: 40 }, () => test.run(request)))
  const refused = replies.filter(({ status }) => status === 429)
  t.equal(refused.length, 40 + 1 - 32, 'the limit has room for 32 such runs')
  assertRefused(refused[0] as Reply, /sent too much in its test runs within an hour\. Try again in \d+ .* Upload files/)

  const before = await eventCount()
  assertRefused(await test.run(picture), /test runs/)
  const client = await connect(t, test, '2025-11-25')
  t.match(await refusal(client, 'run_model', picture), { code: 'rate_limited', message: /test runs/ })
  const repeated = await test.run(request, earlier)
  t.match([repeated.status, repeated.body.run_id], [200, first.run_id])
  t.equal(repeated.headers.get('Idempotent-Replayed'), 'true')
  t.equal((await test.post('/v1/run?dry_run=true', picture)).status, 200)
  t.equal(await eventCount(), before, 'none of this is an event')
  t.equal(await live.balance(), 100)

  const paid = { ...request, metadata: { text: 'x'.repeat(10_000) } }
  for (let runs = 0; runs < 3; runs++) t.equal((await live.run(paid)).status, 200)
  t.equal((await upload(test, filePart(png))).status, 200)
})

t.test('uploads have a limit of bytes by every way in, and can be deleted at any time', async t => {
  const customer = await openAccount(service)
  const { id } = (await upload(customer, filePart(png))).body

  // As if the account had sent many small files under the longest names.
  const name = '猫'.repeat(255)
  const granted = { ...grantUpload(), keyId: customer.keyId }
  const file = { ...granted.upload, filename: name, folderPath: name, maxSizeBytes: 1 }
  const caller = { kind: 'key', accountId: customer.accountId, keyId: customer.keyId, scope: 'full' } as const
  const grant = (number: number) =>
    core.accounts.execute(caller, customer.accountId, { ...granted, upload: { ...file, uploadId: uploadId(number) } })
  const { limitBytes, otherBytes } = FREE_EVENTS.uploads
  const count = Math.ceil(limitBytes / (otherBytes + Buffer.byteLength(JSON.stringify(file))))
  for (let number = 0; number < count; number += 500)
    await Promise.all(Array.from({ length: 500 }, (_, index) => grant(number + index)))

  const before = await eventCount()
  const message = /made too many uploads within an hour\. Try again in \d+ .* Use an upload again/
  const seconds = assertRefused(await upload(customer, filePart(png)), message)
  assertRefused(await customer.post<ErrorBody>('/v1/uploads/presigned', PNG_REQUEST), message)
  const client = await connect(t, customer, '2025-11-25')
  const refused = await refusal(client, 'create_upload', PNG_REQUEST)
  t.match(refused, { code: 'rate_limited', message })
  t.equal(await eventCount(), before, 'none of this is an event')

  t.equal((await customer.send(`/v1/uploads/${id}`, { method: 'DELETE' })).status, 200)
  t.equal((await customer.run(picture)).status, 200)
  clock.advance(seconds * 1000)
  t.equal((await upload(customer, filePart(png))).status, 200)
})
