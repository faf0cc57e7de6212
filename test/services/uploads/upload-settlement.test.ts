import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import type { UploadDeleted } from '../../../schemas/account-events.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { ObjectStore } from '../../../src/ports/object-store.ts'
import { UploadSettlement } from '../../../src/services/uploads/upload-settlement.ts'
import { grantUpload, uploadDeleted, uploadDeletionRequested, uploadId } from '../../support/account-samples.ts'
import { picture, pngWith, zipArchive } from '../../support/sample-files.ts'
import { openUploads, type UploadEvent, uploadEvents } from '../../support/uploads.ts'

const MAX_BYTES = 1000
const cause = { actor: { kind: 'service' } } as const
const png = await picture('png')
const jpeg = await picture('jpeg')
const tooLarge = Buffer.concat([png, Buffer.alloc(MAX_BYTES + 1 - png.length)])
const digestOf = (file: Buffer) => createHash('sha256').update(file).digest('hex')

/** An upload of a PNG that was granted, and the file that has come, if any. */
const start = async (t: Test, file?: Buffer) => {
  const place = await openUploads(t)
  const { core, objects, settlement, asker } = place
  const { upload } = grantUpload()
  await core.accounts.execute(asker.accountId, { ...grantUpload(), keyId: asker.keyId }, cause)
  const send = (bytes: Buffer) => objects.put(upload.objectKey, bytes, upload.mimeType)
  if (file) await send(file)
  const events = async (): Promise<UploadEvent[]> => (await uploadEvents(core.log, asker)).slice(1)
  const isThere = async () => (await objects.stat(upload.objectKey)) !== undefined
  return { ...place, upload: { ...upload, accountId: asker.accountId }, settlement, send, events, isThere }
}

const stored = (file: Buffer, sealed: boolean): UploadEvent => ({
  type: 'UploadStored',
  data: { uploadId: uploadId(), sizeBytes: file.length, sha256: digestOf(file), sealed },
})

t.test('as long as no file has come, nothing happens', async t => {
  const { settlement, upload, events } = await start(t)
  t.equal(await settlement.settle(upload, cause), undefined)
  t.same(await events(), [])
})

t.test('a file that has come is stored once', async t => {
  const { settlement, upload, events } = await start(t, png)
  const found = { sizeBytes: png.length, sha256: digestOf(png), mimeType: 'image/png' }
  t.match(await settlement.settle(upload, cause), found)
  t.match(await settlement.settle(upload, cause), found)
  t.same(await events(), [stored(png, false)])
})

t.test('a file of the largest size is stored', async t => {
  const largest = tooLarge.subarray(0, MAX_BYTES)
  const { settlement, upload, events } = await start(t, largest)
  t.match(await settlement.settle(upload, cause), { sizeBytes: MAX_BYTES })
  t.same(await events(), [stored(largest, false)])
})

const bad: Record<string, [file: Buffer, code: string, message: RegExp, reason: UploadDeleted['reason']]> = {
  'too large': [tooLarge, 'payload_too_large', /has 1001 bytes, and 1000 is the most/, 'too_large'],
  'of another type': [jpeg, 'unsupported_media_type', /is image\/jpeg, but was declared/, 'unsupported_type'],
  'no picture': [Buffer.from('hello'), 'unsupported_media_type', /nothing that is known/, 'unsupported_type'],
  empty: [Buffer.alloc(0), 'unsupported_media_type', /is empty/, 'unsupported_type'],
  'an archive as well': [Buffer.concat([png, zipArchive()]), 'unsupported_media_type', /at once/, 'unsupported_type'],
}

for (const [name, [file, code, message, reason]] of Object.entries(bad)) {
  t.test(`a file that is ${name} is deleted and refused, and another may come in its place`, async t => {
    const { settlement, upload, send, events, isThere } = await start(t, file)
    await t.rejects(settlement.settle(upload, cause), { name: 'ApiError', code, message })
    t.same([await isThere(), await events()], [false, []])
    await send(png)
    await settlement.settle(upload, cause)
    t.same(await events(), [stored(png, false)])
  })

  t.test(`a file that is ${name} is deleted for good at the end`, async t => {
    const { settlement, upload, events, isThere } = await start(t, file)
    await settlement.seal(upload, cause)
    t.same(await events(), [uploadDeleted(1, reason)])
    t.notOk(await isThere())
  })
}

t.test('a good file that comes while a bad one is looked at is not taken for it', async t => {
  const { core, objects, upload, send, events, isThere } = await start(t, jpeg)
  const whileLookedAt: ObjectStore = {
    ...objects,
    get: async key => {
      const found = await objects.get(key)
      const body = Readable.from(
        (async function* () {
          yield* found?.body ?? []
          await send(png)
        })(),
      )
      return found && { ...found, body: found.sizeBytes === jpeg.length ? body : found.body }
    },
  }
  const settlement = new UploadSettlement(core.accounts, whileLookedAt)
  t.match(await settlement.settle(upload, cause), { mimeType: 'image/png' })
  t.ok(await isThere())
  t.same(await events(), [stored(png, false)])
})

t.test('an upload for which no file has come by the end was never sent', async t => {
  const { settlement, upload, events } = await start(t)
  await settlement.seal(upload, cause)
  t.same(await events(), [uploadDeleted(1, 'never_sent')])
})

t.test('a file that has come is stored for good at the end, used or not', async t => {
  const { settlement, upload, events, isThere } = await start(t, png)
  await settlement.seal(upload, cause)
  await settlement.seal(upload, cause)
  t.same(await events(), [stored(png, true)])
  t.ok(await isThere())
})

t.test('what counts at the end is the file that is there then', async t => {
  const { settlement, upload, send, events } = await start(t, png)
  await settlement.settle(upload, cause)
  const other = pngWith(png, 'tEXt', Buffer.from('other'))
  await send(other)
  await settlement.seal(upload, cause)
  t.same(await events(), [stored(png, false), stored(other, true)])
})

t.test('a file that its owner wants gone is stored no more', async t => {
  const { core, settlement, upload, events } = await start(t, png)
  const { uploadId, accountId } = upload
  await core.accounts.execute(accountId, { type: 'RequestUploadDeletion', uploadId }, cause)
  await settlement.settle(upload, cause)
  await settlement.seal(upload, cause)
  t.same(await events(), [uploadDeletionRequested()])
})

t.test('a file is taken away and recorded once, whoever took it away', async t => {
  for (const before of [png, undefined]) {
    const { settlement, upload, events, isThere } = await start(t, before)
    await settlement.remove(upload, 'expired', cause)
    await settlement.remove(upload, 'requested', cause)
    t.same(await events(), [uploadDeleted(1, 'expired')])
    t.notOk(await isThere())
  }
})

t.test('that a file is gone is recorded only when it is', async t => {
  const { core, objects, settlement, upload, events } = await start(t, png)
  const broken: ObjectStore = { ...objects, delete: () => Promise.reject(new Unavailable('no answer')) }
  await t.rejects(new UploadSettlement(core.accounts, broken).remove(upload, 'expired', cause), Unavailable)
  t.same(await events(), [])
  await settlement.remove(upload, 'expired', cause)
  t.same(await events(), [uploadDeleted(1, 'expired')])
})

t.test('a file that cannot be read is neither stored nor deleted', async t => {
  const { core, objects, upload, events, isThere } = await start(t, png)
  const broken: ObjectStore = { ...objects, get: () => Promise.reject(new Unavailable('no answer')) }
  const settlement = new UploadSettlement(core.accounts, broken)
  await t.rejects(settlement.settle(upload, cause), Unavailable)
  await t.rejects(settlement.seal(upload, cause), Unavailable)
  t.same([await isThere(), await events()], [true, []])
})
