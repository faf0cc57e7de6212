import { readdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { PresignedUpload, Upload, UploadList } from '../../../schemas/api/upload.ts'
import { accountStream } from '../../../schemas/events.ts'
import { MAX_PRESIGNED_BYTES } from '../../../schemas/primitives.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import type { Client, Reply } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { filePart, upload } from '../../support/multipart.ts'
import { picture, sampleFiles } from '../../support/sample-files.ts'
import { type Customer, openAccount, type ServiceOptions, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const [png, jpeg] = [await picture('png'), await picture('jpeg')]
const { 'video/mp4': mp4 = png } = await sampleFiles()

const provider: Provider = {
  submit: async () => ({ kind: 'done', media: [{ mimeType: 'image/png', bytes: png }] }),
}

const start = async (t: Test, options: ServiceOptions = {}) => {
  const folder = await temporaryFolder(t)
  const service = await startService(t, { folder, providers: { sandbox: provider }, ...options })
  const [customer, other] = [await openAccount(service), await openAccount(service)]
  const events = async ({ accountId }: Customer) =>
    (await collect(service.core.log.readStream(accountStream(accountId), 0))).map(({ type }) => type)

  /** Asserts that a run and a dry run are refused without events or charge, and returns the error message. */
  const refused = async (t: Test, imageUrl: string): Promise<string> => {
    const before = await events(customer)
    const replies: Reply[] = [await run(customer, imageUrl), await run(customer, imageUrl, '?dry_run=true')]
    for (const { status, body } of replies) {
      t.equal(status, 400, imageUrl)
      t.match(body.error, { code: 'invalid_input', errors: [{ path: '/input/image_url' }] })
    }
    t.same(await events(customer), before)
    t.equal(await customer.balance(), 100)
    const [message, again] = replies.map(({ body }) => body.error.errors?.[0]?.message)
    t.equal(message, again)
    return String(message)
  }
  return { folder, service, customer, other, events, refused }
}

const run = (client: Client, imageUrl: string, query = ''): Promise<Reply> =>
  client.post(`/v1/run${query}`, { model: 'nano-banana-2', input: { prompt: 'add a boat', image_url: imageUrl } })

const send = async (client: Client, file: Buffer, type = 'image/png'): Promise<Upload> =>
  (await upload(client, filePart(file, type))).body as unknown as Upload

const grant = async (client: Client, mime_type = 'image/png'): Promise<PresignedUpload> =>
  (await client.post<PresignedUpload>('/v1/uploads/presigned', { filename: 'a.png', mime_type })).body

const put = async ({ presigned_url }: PresignedUpload, file: Buffer, type = 'image/png') =>
  (await fetch(presigned_url, { method: 'PUT', headers: { 'Content-Type': type }, body: Uint8Array.from(file) })).status

const dataUrl = (file: Buffer, type = 'image/png') => `data:${type};base64,${file.toString('base64')}`

/** The path of the file at an address. */
const pathOf = (folder: string, address: string) =>
  join(folder, 'objects', new URL(address).pathname.slice('/cdn/'.length))

const ABSENT = 'The upload does not exist or was deleted.'
const NO_FILE = 'The file does not exist or was deleted.'

t.test('a client can use its own picture any number of times', async t => {
  const { customer } = await start(t)
  const { url } = await send(customer, png)
  t.equal((await run(customer, url, '?dry_run=true')).status, 200)
  for (const address of [url, url, `${url}?a=1#b`])
    t.match((await run(customer, address)).body, { status: 'completed' })
})

t.test('each parameter takes files of its kind', async t => {
  const { service } = await start(t)
  const customer = await openAccount(service, { credits: 1_000 })
  const [image, video] = [(await send(customer, png)).url, (await send(customer, mp4, 'video/mp4')).url]
  const ask = (model: string, input: object) =>
    customer.post('/v1/run?dry_run=true', { model, input: { prompt: 'go on', ...input } })
  const taken = [
    await ask('veo-3-1', { video_url: video }),
    await ask('kling-3-pro', { image_url: image, end_image_url: image }),
  ]
  t.same(
    taken.map(({ body }) => body.endpoint),
    ['veo-3-1-v2v', 'kling-3-pro-i2v'],
  )
  const notVideo = `The file is image/png, not a video.`
  const notImage = `The file is video/mp4, not an image.`
  const refusals: [model: string, input: object, parameter: string, message: string | RegExp][] = [
    ['veo-3-1', { video_url: image }, 'video_url', notVideo],
    ['kling-3-pro', { image_url: video }, 'image_url', notImage],
    ['kling-3-pro', { image_url: image, end_image_url: video }, 'end_image_url', notImage],
    [
      'kling-3-pro',
      { image_url: image, end_image_url: image.replace(/[0-9a-f]{32}/, '0'.repeat(32)) },
      'end_image_url',
      ABSENT,
    ],
    ['kling-3-pro', { image_url: image, end_image_url: 'http://10.0.0.1/a.png' }, 'end_image_url', /public host/],
    ['veo-3-1', { video_url: 'http://localhost/a.mp4' }, 'video_url', /public host/],
    ['veo-3-1', { video_url: 'http://a b/c.mp4' }, 'video_url', /./],
    ['veo-3-1', { video_url: dataUrl(mp4, 'video/mp4') }, 'video_url', /./],
  ]
  for (const [model, input, parameter, message] of refusals) {
    const { status, body } = await ask(model, input)
    t.equal(status, 400, parameter)
    t.match(body.error, { code: 'invalid_input', errors: [{ path: `/input/${parameter}`, message }] }, parameter)
  }
  t.match((await ask('wan-2-6', { video_url: video })).body.error, { message: /only these kinds: t2v, i2v/ })
})

t.test('a picture of another account is reported as absent', async t => {
  const { other, refused } = await start(t)
  const { url } = await send(other, png)
  const granted = await grant(other)
  const absent = url.replace(/[0-9a-f]{32}/, '0'.repeat(32))
  for (const address of [url, granted.cdn_url, absent]) t.equal(await refused(t, address), ABSENT)
  t.equal(await put(granted, png), 200)
  t.equal(await refused(t, granted.cdn_url), ABSENT)
  t.match((await run(other, granted.cdn_url)).body, { status: 'completed' }, 'its owner can use it')
})

t.test('a picture can be used only after it has been sent', async t => {
  const { customer, events, refused } = await start(t)
  const granted = await grant(customer)
  t.match(await refused(t, granted.cdn_url), /^No file has arrived yet, or it was refused/)
  t.equal((await customer.send<UploadList>('/v1/uploads')).body.data.length, 0)
  await put(granted, png)
  t.match((await run(customer, granted.cdn_url)).body, { status: 'completed' })
  const [first, ...rest] = (await events(customer)).slice(-5)
  t.equal(first, 'UploadGranted')
  t.same(rest, ['UploadStored', 'CreditsDebited', 'RunStarted', 'RunCompleted'])
  const { body } = await customer.send<UploadList>('/v1/uploads')
  t.match(body.data, [{ id: granted.id, url: granted.cdn_url, size_bytes: png.length }])
})

t.test('a dry run counts as a use and stores the file', async t => {
  const { customer, events } = await start(t)
  const granted = await grant(customer)
  await put(granted, png)
  t.equal((await run(customer, granted.cdn_url, '?dry_run=true')).status, 200)
  t.same((await events(customer)).slice(-2), ['UploadGranted', 'UploadStored'])
})

t.test('a file of another type than declared is refused and deleted, and can be sent again', async t => {
  const { folder, customer } = await start(t)
  const granted = await grant(customer)
  await put(granted, jpeg)
  const { status, body } = await run(customer, granted.cdn_url)
  t.equal(status, 400)
  t.match(body.error.errors, [{ path: '/input/image_url', message: /image\/jpeg, but was declared as image\/png/ }])
  t.same(await readdir(join(folder, 'objects', 'uploads')), [])
  await put(granted, png)
  t.equal((await run(customer, granted.cdn_url)).status, 200)
})

t.test('a file replaced by an oversized one is refused', async t => {
  const { folder, customer, refused } = await start(t)
  const granted = await grant(customer)
  await put(granted, png)
  await customer.send(`/v1/uploads/${granted.id}`)
  await truncate(pathOf(folder, granted.cdn_url), MAX_PRESIGNED_BYTES + 1)
  t.equal(await refused(t, granted.cdn_url), `The file is larger than ${MAX_PRESIGNED_BYTES} bytes.`)
})

t.test('a video is refused as an image', async t => {
  const { customer, refused } = await start(t)
  const { url } = await send(customer, mp4, 'video/mp4')
  t.equal(await refused(t, url), 'The file is video/mp4, not an image.')
})

t.test('a deleted picture cannot be used', async t => {
  const { customer, refused } = await start(t)
  const [sealed, granted] = [await send(customer, png), await grant(customer)]
  await put(granted, png)
  for (const { id } of [sealed, granted])
    t.equal((await customer.send(`/v1/uploads/${id}`, { method: 'DELETE' })).status, 200)
  for (const url of [sealed.url, granted.cdn_url]) t.equal(await refused(t, url), ABSENT)
  await put(granted, png)
  t.equal(await refused(t, granted.cdn_url), ABSENT, 'nor can a file sent after the deletion')
})

t.test('an output can be used until it is deleted', async t => {
  const { folder, customer, other } = await start(t)
  const { body } = await other.run({ model: 'nano-banana-2', input: { prompt: 'a bay' } })
  const url = String(body.output?.url)
  t.match(url, /\/cdn\/outputs\//)
  t.match((await run(customer, url)).body, { status: 'completed' })
  await rm(pathOf(folder, url))
  const { body: absent } = await run(customer, url)
  t.match(absent.error, { code: 'invalid_input', errors: [{ path: '/input/image_url', message: NO_FILE }] })
})

t.test('a film that is a result is refused as an image', async t => {
  const submit: Provider['submit'] = async () => ({ kind: 'done', media: [{ mimeType: 'video/mp4', bytes: mp4 }] })
  const { customer } = await start(t, { providers: { sandbox: { ...provider, submit } } })
  const { body } = await customer.run({ model: 'kling-2-6-t2v', input: { prompt: 'a bay' } }, { Prefer: 'wait=30' })
  const url = String(body.output?.url)
  t.match(url, /\.mp4$/)
  const { status, body: refusal } = await run(customer, url)
  t.equal(status, 400)
  t.match(refusal.error.errors, [{ message: 'The file is video/mp4, not an image.' }])
})

t.test('misspelled own addresses find no file', async t => {
  const { service, customer, refused } = await start(t)
  const { url } = await send(customer, png)
  const { pathname } = new URL(url)
  for (const path of [
    '/cdn/',
    pathname.slice(0, -1),
    pathname.replace('.png', '.webp'),
    pathname.replace('uploads/', 'uploads%2f'),
    pathname.replace('uploads', '%75ploads'),
    pathname.replace('.png', '%2epng'),
    pathname.replace('/uploads', '//uploads'),
    pathname.toUpperCase().replace('/CDN', '/cdn'),
    `${pathname}/`,
    `${pathname}%00`,
    '/cdn/uploads/..%2f..%2f..%2fmaster-secret',
    '/cdn/arriving/x',
  ])
    t.ok([ABSENT, NO_FILE].includes(await refused(t, service.url + path)), path)
  const granted = await grant(customer)
  await put(granted, png)
  t.equal(await refused(t, granted.cdn_url.slice(0, -1)), ABSENT, 'nor does a truncated address')
})

t.test('with a CDN both addresses belong to the service', async t => {
  const { service, customer, other, refused } = await start(t, {
    environment: { CDN_URL: 'https://files.example.com/bucket' },
  })
  const [own, foreign] = [await send(customer, png), await send(other, png)]
  t.ok(own.url.startsWith('https://files.example.com/bucket/uploads/'))
  const here = (url: string) => url.replace('https://files.example.com/bucket', `${service.url}/cdn`)
  for (const url of [foreign.url, here(foreign.url)]) t.equal(await refused(t, url), ABSENT)
  for (const url of [own.url, here(own.url)]) t.equal((await run(customer, url)).status, 200)
})

t.test('other addresses are not fetched before the run', async t => {
  const { customer } = await start(t)
  for (const url of [
    'https://example.com/cdn/uploads/x.png',
    dataUrl(png),
    dataUrl(png, 'image/jpeg'),
    dataUrl(png, 'application/x'),
  ])
    t.match((await run(customer, url)).body, { status: 'completed' })
})

t.test('a URL to which no request can go is refused before the run', async t => {
  const { refused } = await start(t)
  for (const url of ['http://', 'https://', 'http://1.1.1.1:99999/', 'http://1.1.1.1:0/', 'http://exa mple.com'])
    t.equal(await refused(t, url), 'has no valid host or port', url)
  t.match(await refused(t, 'http://user:secret@example.com/a.png'), 'must not contain a user name or password')
  t.match(await refused(t, `http://${'a.'.repeat(127)}example.com/a.png`), 'at most 253 characters')
})

t.test('a data: URL without a whole image is refused before the run', async t => {
  const { refused } = await start(t)
  const withoutImage = ['data:image/png', 'data:image/png;base64,%%%']
  for (const url of withoutImage) t.match(await refused(t, url), /holds no image/, url.slice(0, 40))
  t.match(await refused(t, 'data:text/plain,hello'), /^The file is text\/plain, which is not accepted\./)
  for (const label of ['image/svg+xml', 'text/html'])
    t.match(await refused(t, `data:${label},%3Csvg/%3E`), `The file is ${label}, which is not accepted.`)
  t.match(await refused(t, 'data:image/png;base64,'), /empty/)
  t.match(await refused(t, 'data:image/png;base64,AAAA'), /unknown type.* Accepted types: image\/png, .*image\/avif\.$/)
  t.match(await refused(t, dataUrl(png.subarray(0, -12))), /cut off|truncated|incomplete/)
  for (const type of ['image/png', 'video/mp4'])
    t.match(await refused(t, dataUrl(mp4, type)), /video\/mp4, not an image/)
})
