import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import type { UploadDeleted } from '../../../schemas/account-events.ts'
import type { ContentRefusal } from '../../../src/domain/refusal.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { ObjectStore } from '../../../src/ports/object-store.ts'
import { UploadSettlement } from '../../../src/services/uploads/upload-settlement.ts'
import { grantUpload, uploadDeleted, uploadDeletionRequested, uploadId } from '../../support/account-samples.ts'
import { picture, pngWith, zipArchive } from '../../support/sample-files.ts'
import { unwrap } from '../../support/unwrap.ts'
import { openUploads, type UploadEvent, uploadEvents } from '../../support/uploads.ts'

const MAX_BYTES = 1000
const caller = { kind: 'service' } as const
const png = await picture('png')
const jpeg = await picture('jpeg')
const tooLarge = Buffer.concat([png, Buffer.alloc(MAX_BYTES + 1 - png.length)])
const digestOf = (file: Buffer) => createHash('sha256').update(file).digest('hex')

/** A granted upload of a PNG, with its file if one is given. */
const start = async (t: Test, file?: Buffer) => {
  const place = await openUploads(t)
  const { core, objects, settlement, owner } = place
  const { upload } = grantUpload()
  await core.accounts.execute(caller, owner.accountId, { ...grantUpload(), keyId: owner.keyId })
  const send = (bytes: Buffer) => objects.put(upload.objectKey, bytes, upload.mimeType)
  if (file) await send(file)
  const events = async (): Promise<UploadEvent[]> => (await uploadEvents(core.log, owner)).slice(1)
  const isThere = async () => (await objects.stat(upload.objectKey)) !== undefined
  return { ...place, upload: { ...upload, accountId: owner.accountId }, settlement, send, events, isThere }
}

const stored = (file: Buffer, sealed: boolean): UploadEvent => ({
  type: 'UploadStored',
  data: { uploadId: uploadId(), sizeBytes: file.length, sha256: digestOf(file), sealed },
})

t.test('nothing is recorded before the file arrives', async t => {
  const { settlement, upload, events } = await start(t)
  t.equal(await settlement.settle(caller, upload), undefined)
  t.same(await events(), [])
})

t.test('an uploaded file is stored once', async t => {
  const { settlement, upload, events } = await start(t, png)
  const found = { sizeBytes: png.length, sha256: digestOf(png), mimeType: 'image/png' }
  t.match(await settlement.settle(caller, upload), found)
  t.match(await settlement.settle(caller, upload), found)
  t.same(await events(), [stored(png, false)])
})

t.test('requests for an upload at the same time share one inspection', async t => {
  const { core, objects, upload, events } = await start(t, png)
  let reads = 0
  const get: ObjectStore['get'] = key => {
    reads += 1
    return objects.get(key)
  }
  const settlement = new UploadSettlement(core.accounts, { ...objects, get })
  const found = await Promise.all(Array.from({ length: 10 }, () => settlement.settle(caller, upload)))
  t.equal(reads, 1)
  for (const one of found) t.match(one, { sha256: digestOf(png) })
  t.same(await events(), [stored(png, false)])
  await settlement.settle(caller, upload)
  t.equal(reads, 2, 'a later request inspects the file that is there then')
})

t.test('a file of the largest size is stored', async t => {
  const largest = tooLarge.subarray(0, MAX_BYTES)
  const { settlement, upload, events } = await start(t, largest)
  t.match(await settlement.settle(caller, upload), { sizeBytes: MAX_BYTES })
  t.same(await events(), [stored(largest, false)])
})

const bad: Record<string, [file: Buffer, refuse: ContentRefusal, reason: UploadDeleted['reason']]> = {
  'too large': [tooLarge, { code: 'file_too_large', sizeBytes: 1001, limitBytes: 1000 }, 'too_large'],
  'of another type': [
    jpeg,
    { code: 'file_type_mismatch', mimeType: 'image/jpeg', declared: 'image/png' },
    'unsupported_type',
  ],
  'not a picture': [Buffer.from('hello'), { code: 'file_type_not_accepted' }, 'unsupported_type'],
  empty: [Buffer.alloc(0), { code: 'file_empty' }, 'unsupported_type'],
  'also an archive': [
    Buffer.concat([png, zipArchive()]),
    { code: 'file_ambiguous', mimeType: 'image/png', alsoIs: 'a ZIP archive' },
    'unsupported_type',
  ],
}

for (const [name, [file, refuse, reason]] of Object.entries(bad)) {
  t.test(`a file that is ${name} is refused and deleted, and can be sent again`, async t => {
    const { settlement, upload, send, events, isThere } = await start(t, file)
    t.match(await settlement.settle(caller, upload), { refuse })
    t.same([await isThere(), await events()], [false, []])
    await send(png)
    await settlement.settle(caller, upload)
    t.same(await events(), [stored(png, false)])
  })

  t.test(`a file that is ${name} is deleted at the end of its grant`, async t => {
    const { settlement, upload, events, isThere } = await start(t, file)
    await settlement.seal(caller, upload)
    t.same(await events(), [uploadDeleted(1, reason)])
    t.notOk(await isThere())
  })
}

t.test('a good file that replaces a bad one during its inspection is kept', async t => {
  const { core, objects, upload, send, events, isThere } = await start(t, jpeg)
  const replacing: ObjectStore = {
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
  const settlement = new UploadSettlement(core.accounts, replacing)
  t.match(await settlement.settle(caller, upload), { mimeType: 'image/png' })
  t.ok(await isThere())
  t.same(await events(), [stored(png, false)])
})

t.test('an upload without a file at the end of its grant is recorded as never sent', async t => {
  const { settlement, upload, events } = await start(t)
  await settlement.seal(caller, upload)
  t.same(await events(), [uploadDeleted(1, 'never_sent')])
})

t.test('a file that a delayed process stores during the last look is kept', async t => {
  const { core, objects, upload, send, events, isThere } = await start(t)
  const delayed: ObjectStore = {
    ...objects,
    get: async key => {
      const found = await objects.get(key)
      await send(png)
      const settlement = new UploadSettlement(core.accounts, objects)
      const facts = { sizeBytes: png.length, sha256: digestOf(png), mimeType: 'image/png' }
      await settlement.store(caller, upload, { ...facts, alsoIs: undefined, isCutOff: false }, true)
      return found
    },
  }
  await new UploadSettlement(core.accounts, delayed).seal(caller, upload)
  t.same(await events(), [stored(png, true)])
  t.ok(await isThere())
})

t.test('a file that arrives after the last look is deleted, and cannot be stored', async t => {
  const { core, objects, upload, send, events, isThere } = await start(t)
  const late: ObjectStore = {
    ...objects,
    get: async key => {
      const found = await objects.get(key)
      await send(png)
      return found
    },
  }
  await new UploadSettlement(core.accounts, late).seal(caller, upload)
  t.same(await events(), [uploadDeleted(1, 'never_sent')])
  t.notOk(await isThere())
})

t.test('a file is sealed at the end of its grant even if it was never used', async t => {
  const { settlement, upload, events, isThere } = await start(t, png)
  await settlement.seal(caller, upload)
  await settlement.seal(caller, upload)
  t.same(await events(), [stored(png, true)])
  t.ok(await isThere())
})

t.test('the file present at the end of the grant is the one that is sealed', async t => {
  const { settlement, upload, send, events } = await start(t, png)
  await settlement.settle(caller, upload)
  const other = pngWith(png, 'tEXt', Buffer.from('other'))
  await send(other)
  await settlement.seal(caller, upload)
  t.same(await events(), [stored(png, false), stored(other, true)])
})

t.test('a file is not stored after a deletion request', async t => {
  const { core, settlement, upload, events } = await start(t, png)
  const { uploadId, accountId } = upload
  await core.accounts.execute(caller, accountId, { type: 'RequestUploadDeletion', uploadId })
  await settlement.settle(caller, upload)
  await settlement.seal(caller, upload)
  t.same(await events(), [uploadDeletionRequested()])
})

t.test('a file is deleted and its deletion recorded once', async t => {
  for (const before of [png, undefined]) {
    const { settlement, upload, events, isThere } = await start(t, before)
    await settlement.remove(caller, upload, 'expired')
    await settlement.remove(caller, upload, 'requested')
    t.same(await events(), [uploadDeleted(1, 'expired')])
    t.notOk(await isThere())
  }
})

t.test('a deletion is recorded only after the file is gone', async t => {
  const { core, objects, settlement, upload, events } = await start(t, png)
  const broken: ObjectStore = { ...objects, delete: () => Promise.reject(new Unavailable('no answer')) }
  await t.rejects(new UploadSettlement(core.accounts, broken).remove(caller, upload, 'expired'), Unavailable)
  t.same(await events(), [])
  await settlement.remove(caller, upload, 'expired')
  t.same(await events(), [uploadDeleted(1, 'expired')])
})

t.test('a file that cannot be read is neither stored nor deleted', async t => {
  const { core, objects, upload, events, isThere } = await start(t, png)
  const broken: ObjectStore = { ...objects, get: () => Promise.reject(new Unavailable('no answer')) }
  const settlement = new UploadSettlement(core.accounts, broken)
  await t.rejects(settlement.settle(caller, upload), Unavailable)
  await t.rejects(settlement.seal(caller, upload), Unavailable)
  t.same([await isThere(), await events()], [true, []])
})

t.test('a file that was sent after its key had been revoked is deleted, and one before is kept', async t => {
  for (const [lateByMs, isKept] of [
    [-1001, true],
    [-999, false],
    [60_000, false],
  ] as const) {
    const { core, objects, uploads, owner, clock } = await openUploads(t)
    const form = { filename: 'a.png', mime_type: 'image/png' }
    const { upload } = unwrap(await uploads.presign(owner, form))
    const get: ObjectStore['get'] = async key => {
      const found = await objects.get(key)
      return found && { ...found, storedAtMs: clock.nowMs() + lateByMs }
    }
    await objects.put(upload.objectKey, png, upload.mimeType)
    await core.accounts.execute(caller, owner.accountId, { type: 'RevokeApiKey', keyId: owner.keyId })
    const settlement = new UploadSettlement(core.accounts, { ...objects, get })
    const found = await settlement.settle(caller, { ...upload, accountId: owner.accountId })
    t.equal(found !== undefined, isKept)
    t.equal((await objects.stat(upload.objectKey)) !== undefined, isKept)
    await settlement.seal(caller, { ...upload, accountId: owner.accountId })
    t.equal((await uploadEvents(core.log, owner)).at(-1)?.type, isKept ? 'UploadStored' : 'UploadDeleted')
  }
})
