import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { PresignedUpload, Upload } from '../../schemas/api/upload.ts'
import { MAX_PRESIGNED_BYTES } from '../../schemas/primitives.ts'
import { caughtUp } from '../support/caught-up.ts'
import { type Client, picture as pictureRequest } from '../support/client.ts'
import { filePart, upload } from '../support/multipart.ts'
import { needsS3, startRadosgw } from '../support/radosgw.ts'
import { picture } from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { unwrap } from '../support/unwrap.ts'

t.test('uploads on an S3 server', needsS3(), async t => {
  const server = await startRadosgw()
  t.teardown(() => server.stop())
  const bucket = await server.createBucket()
  const service = await startService(t, { environment: { OBJECT_STORE_URL: server.url(bucket) } })
  const customer = await openAccount(service)
  const png = await picture('png')

  const grant = async (client: Client = customer): Promise<PresignedUpload> =>
    (await client.post<PresignedUpload>('/v1/uploads/presigned', { filename: 'a.png', mime_type: 'image/png' })).body
  const put = async (address: string, body: Uint8Array, type?: string) =>
    (await fetch(address, { method: 'PUT', body, ...(type !== undefined && { headers: { 'Content-Type': type } }) }))
      .status
  const find = (id: string) => customer.send<Upload & ErrorBody>(`/v1/uploads/${id}`)
  const change = (url: string) =>
    customer.run({ ...pictureRequest, input: { ...pictureRequest.input, image_url: url } })
  const served = async (t: Test, url: string, body: Uint8Array) => {
    const answer = await fetch(url)
    t.equal(answer.headers.get('Content-Type'), 'image/png')
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(body))
  }

  t.test('a file sent to the service is served, used as input and deleted', async t => {
    const { status, body } = await upload(customer, filePart(png))
    t.equal(status, 200)
    await served(t, body.url, png)
    const part = await fetch(body.url, { headers: { Range: 'bytes=1-3' } })
    t.same([part.status, await part.text()], [206, 'PNG'])
    t.match((await change(body.url)).body, { status: 'completed', endpoint: 'nano-banana-2-i2i' })
    t.equal((await customer.send(`/v1/uploads/${body.id}`, { method: 'DELETE' })).status, 200)
    t.equal((await fetch(body.url)).status, 404)
  })

  t.test('a file sent directly to the server is used as input', async t => {
    const { id, presigned_url, cdn_url } = await grant()
    t.match(await change(cdn_url), { status: 400, body: { error: { code: 'invalid_input' } } })
    t.equal(await put(presigned_url, png, 'image/png'), 200)
    t.match((await change(cdn_url)).body, { status: 'completed' })
    t.match((await find(id)).body, { size_bytes: png.length, url: cdn_url })
    await served(t, cdn_url, png)
  })

  t.test('a file sent without a type gets its declared type', async t => {
    const { id, presigned_url, cdn_url } = await grant()
    t.equal(await put(presigned_url, png), 200)
    t.equal((await find(id)).status, 200)
    await served(t, cdn_url, png)
  })

  for (const [what, body, type, code] of [
    ['as another type', png, 'text/html', 'unsupported_media_type'],
    ['of another type', await picture('jpeg'), 'image/png', 'unsupported_media_type'],
    ['too large', Buffer.concat([png, Buffer.alloc(MAX_PRESIGNED_BYTES)]), 'image/png', 'payload_too_large'],
  ] as const)
    t.test(`a file sent ${what} is refused and deleted, and can be sent again`, async t => {
      const { id, presigned_url, cdn_url } = await grant()
      t.equal(await put(presigned_url, body, type), 200)
      t.equal((await find(id)).body.error.code, code)
      t.equal((await fetch(cdn_url)).status, 404)
      t.equal(await put(presigned_url, png, 'image/png'), 200)
      t.equal((await find(id)).status, 200)
    })

  /** The server takes the file, since it does not know that its URL is withdrawn. */
  const isNotUsed = async (t: Test, { id, presigned_url, cdn_url }: PresignedUpload) => {
    t.equal(await put(presigned_url, png, 'image/png'), 200)
    t.equal((await fetch(cdn_url)).status, 404)
    t.equal((await find(id)).status, 404)
    t.match(await change(cdn_url), { status: 400, body: { error: { code: 'invalid_input' } } })
  }

  t.test('a file sent after its upload was deleted is not used', async t => {
    const granted = await grant()
    t.equal((await customer.send(`/v1/uploads/${granted.id}`, { method: 'DELETE' })).status, 200)
    await isNotUsed(t, granted)
  })

  t.test('a file sent after its key was revoked is not used, and one sent before is', async t => {
    const { keys } = service.core.services
    const operator = { kind: 'operator', name: 'test' } as const
    const { keyId, apiKey } = unwrap(await keys.create(operator, customer.accountId, { name: 'other' }))
    await caughtUp(service.core)
    const other = service.client(apiKey)
    const [early, late] = [await grant(other), await grant(other)]
    t.equal(await put(early.presigned_url, png, 'image/png'), 200)
    // The server tells the time of a file to the second.
    await delay(1_000)
    unwrap(await keys.revoke(operator, customer.accountId, keyId))
    await delay(1_000)
    await isNotUsed(t, late)
    t.equal((await find(early.id)).status, 200)
    await served(t, early.cdn_url, png)
  })

  t.test('presigned URLs belong to the S3 server, not to the service', async t => {
    const { cdn_url } = await grant()
    t.equal(await put(cdn_url, png, 'image/png'), 405)
  })
})
