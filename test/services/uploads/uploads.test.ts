import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import t, { type Test } from 'tap'
import { accountStream } from '../../../schemas/events.ts'
import { MAX_ARRIVING_UPLOADS } from '../../../schemas/primitives.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { IncomingObject, ObjectStore } from '../../../src/ports/object-store.ts'
import type { AccountCaller } from '../../../src/services/caller.ts'
import { UploadFinder } from '../../../src/services/uploads/upload-finder.ts'
import { UploadGrants } from '../../../src/services/uploads/upload-grants.ts'
import { UploadSettlement } from '../../../src/services/uploads/upload-settlement.ts'
import { Uploads } from '../../../src/services/uploads/uploads.ts'
import { caughtUp } from '../../support/caught-up.ts'
import { collect } from '../../support/collect.ts'
import { accountsOn } from '../../support/engine.ts'
import { type Fate, faultyLog, unavailable } from '../../support/faulty-log.ts'
import { picture } from '../../support/sample-files.ts'
import { unwrap } from '../../support/unwrap.ts'
import { openUploads, uploadEvents } from '../../support/uploads.ts'

const png = await picture('png')
const form = { filename: 'beach.png' }

type Place = Awaited<ReturnType<typeof openUploads>>

const send = async (uploads: Uploads, owner: AccountCaller, { file = png, mimeType = 'image/png' } = {}) => {
  const arriving = unwrap(await uploads.receive(owner, mimeType))
  await pipeline(Readable.from([file]), arriving.body)
  return arriving.finish(form)
}

/** The files in a folder of the object store. */
const filesIn = (place: Place, folder: string) =>
  readdir(join(place.folder, 'objects', folder)).catch(() => [] as string[])

/** The same uploads on a faulty log and a changed store. */
const faultyUploads = (place: Place, { fates = [], store = {} }: { fates?: Fate[]; store?: Partial<ObjectStore> }) => {
  const { core } = place
  const accounts = accountsOn(faultyLog(core.log, ...fates), place.clock)
  const objects = { ...place.objects, ...store }
  const settlement = new UploadSettlement(accounts, objects)
  const { uploadGrantMs: grantMs, retention } = core.config
  const grants = new UploadGrants({
    ...core,
    accounts,
    retentionMs: retention.uploadsMs,
    quotaBytes: core.config.uploadQuotaBytes,
  })
  const finder = new UploadFinder({ ...core, settlement })
  return new Uploads({ ...core, accounts, objects, finder, settlement, grants, grantMs })
}

const revoke = ({ core, owner: { accountId, keyId } }: Place) =>
  core.accounts.execute({ kind: 'operator', name: 'test' }, accountId, { type: 'RevokeApiKey', keyId })

/** Receives files, and settles their grants as another process does, in the order that a test chooses. */
const receiveWith =
  (place: Place, run: (store: () => Promise<boolean>, settle: () => Promise<void>) => Promise<void>) =>
  async (): Promise<IncomingObject> => {
    const { objects, settlement, owner, core } = place
    const incoming = await objects.receive()
    const settle = async () => {
      const [granted] = await uploadEvents(core.log, owner)
      if (granted?.type === 'UploadGranted')
        await settlement.seal({ kind: 'reactor' }, { ...granted.data, accountId: owner.accountId })
    }
    return { ...incoming, store: (key, mimeType) => run(() => incoming.store(key, mimeType), settle).then(() => true) }
  }

/** Asserts that the log has only these events and that no file is left. */
const assertLeftovers = async (t: Test, place: Place, ...types: string[]) => {
  t.same(
    (await uploadEvents(place.core.log, place.owner)).map(({ type }) => type),
    types,
  )
  t.same([await filesIn(place, 'arriving'), await filesIn(place, 'uploads')], [[], []])
}

t.test('a received file is sealed at once', async t => {
  const place = await openUploads(t)
  const row = unwrap(await send(place.uploads, place.owner))
  t.match(row, { status: 'stored', sealed: true, filename: 'beach.png', sizeBytes: png.length })
  t.match(await place.uploads.find(place.owner, row.uploadId), { value: row }, 'the views have the same row')
  t.same(await filesIn(place, 'arriving'), [])
  t.equal((await place.objects.stat(row.objectKey))?.sizeBytes, png.length)
})

t.test('a refused file leaves nothing behind', async t => {
  const place = await openUploads(t)
  for (const wrong of [{ mimeType: 'image/webp' }, { file: Buffer.from('hello') }, { file: Buffer.alloc(0) }])
    t.match(await send(place.uploads, place.owner, wrong), { refuse: { code: /^file_/ } })
  await assertLeftovers(t, place)
})

t.test('an account has a limited number of files that arrive at a time', async t => {
  const place = await openUploads(t)
  const { uploads, owner } = place
  const begin = () => uploads.receive(owner, 'image/png')
  const refusal = { refuse: { code: 'too_many_arriving_uploads', limit: MAX_ARRIVING_UPLOADS } }
  const arriving = await Promise.all(Array.from({ length: MAX_ARRIVING_UPLOADS }, async () => unwrap(await begin())))
  t.same(await begin(), refusal)
  t.equal((await filesIn(place, 'arriving')).length, MAX_ARRIVING_UPLOADS)
  unwrap(await send(uploads, await place.openOwner()))

  const [stored, broken] = arriving
  if (!stored || !broken) throw new Error('There are fewer files.')
  await pipeline(Readable.from([png]), stored.body)
  unwrap(await stored.finish(form))
  await broken.discard()
  for (const ended of [stored, broken]) arriving[arriving.indexOf(ended)] = unwrap(await begin())
  t.same(await begin(), refusal, 'a file that is whole or discarded makes room for one')
  await Promise.all(arriving.map(each => each.discard()))
})

t.test('a file that does not begin to arrive takes no room', async t => {
  const place = await openUploads(t)
  const broken = faultyUploads(place, { store: { receive: () => Promise.reject(new Unavailable('full')) } })
  for (let count = 0; count < MAX_ARRIVING_UPLOADS + 1; count++) {
    await t.rejects(broken.receive(place.owner, 'image/png'), Unavailable)
    t.match(await place.uploads.receive(place.owner, 'text/html'), { refuse: { code: 'declared_type_not_accepted' } })
  }
  unwrap(await send(place.uploads, place.owner))
})

t.test('a file without a grant leaves nothing behind', async t => {
  const place = await openUploads(t)
  await t.rejects(send(faultyUploads(place, { fates: [unavailable] }), place.owner), Unavailable)
  await revoke(place)
  t.same(await send(place.uploads, place.owner), { refuse: { code: 'key_revoked' } })
  await assertLeftovers(t, place)
})

t.test('a file whose key is revoked before it is stored leaves nothing behind', async t => {
  const place = await openUploads(t)
  const receive: ObjectStore['receive'] = async () => {
    const incoming = await place.objects.receive()
    return {
      ...incoming,
      store: async (key, mimeType) => {
        const isStored = await incoming.store(key, mimeType)
        await revoke(place)
        return isStored
      },
    }
  }
  t.same(await send(faultyUploads(place, { store: { receive } }), place.owner), { refuse: { code: 'key_revoked' } })
  await assertLeftovers(t, place, 'UploadGranted', 'UploadDeletionRequested', 'UploadDeleted')
})

t.test('a file that comes after its deletion was recorded, with a revoked key, leaves nothing behind', async t => {
  const place = await openUploads(t)
  const receive = receiveWith(place, async (store, settle) => {
    await settle()
    await store()
    await revoke(place)
  })
  t.same(await send(faultyUploads(place, { store: { receive } }), place.owner), { refuse: { code: 'key_revoked' } })
  await assertLeftovers(t, place, 'UploadGranted', 'UploadDeleted')
})

t.test('a file that another process stores before its key is revoked is kept', async t => {
  const place = await openUploads(t)
  const receive = receiveWith(place, async (store, settle) => {
    await store()
    await settle()
    await revoke(place)
  })
  t.same(await send(faultyUploads(place, { store: { receive } }), place.owner), { refuse: { code: 'key_revoked' } })
  t.equal((await uploadEvents(place.core.log, place.owner)).at(-1)?.type, 'UploadStored')
  t.equal((await filesIn(place, 'uploads')).length, 1)
})

t.test('a revoked key cannot delete an upload', async t => {
  const place = await openUploads(t)
  const { uploadId, objectKey } = unwrap(await send(place.uploads, place.owner))
  await revoke(place)
  t.same(await place.uploads.delete(place.owner, uploadId), { refuse: { code: 'key_revoked' } })
  t.ok(await place.objects.stat(objectKey))
})

t.test('the service, not the reader, is recorded as the actor that stores a file', async t => {
  const place = await openUploads(t)
  const { core, objects, owner, uploads } = place
  const { upload } = unwrap(await uploads.presign(owner, { filename: 'beach.png', mime_type: 'image/png' }))
  await objects.put(upload.objectKey, png, upload.mimeType)
  const reader = { ...owner, scope: 'read', requestId: 'read-1' } as const
  t.match(await uploads.find(reader, upload.uploadId), { value: { status: 'stored' } })
  const [stored] = (await collect(core.log.readStream(accountStream(owner.accountId), 0))).filter(
    event => event.type === 'UploadStored',
  )
  t.match(stored?.metadata, { actor: { kind: 'service' }, requestId: 'read-1' })
})

t.test('an upload that is deleted during its inspection is not shown', async t => {
  const place = await openUploads(t)
  const { core, objects, owner, uploads } = place
  const { upload } = unwrap(await uploads.presign(owner, { filename: 'beach.png', mime_type: 'image/png' }))
  await objects.put(upload.objectKey, png, upload.mimeType)
  const get: ObjectStore['get'] = async key => {
    const found = await objects.get(key)
    const deletion = { type: 'RequestUploadDeletion', uploadId: upload.uploadId } as const
    await core.accounts.execute(owner, owner.accountId, deletion)
    return found
  }
  t.same(await faultyUploads(place, { store: { get } }).find(owner, upload.uploadId), {
    refuse: { code: 'upload_not_found' },
  })
})

t.test('a discarded or interrupted upload leaves nothing behind', async t => {
  const place = await openUploads(t)
  const discarded = unwrap(await place.uploads.receive(place.owner, 'image/png'))
  discarded.body.write(png)
  await discarded.discard()
  const broken = unwrap(await place.uploads.receive(place.owner, 'image/png'))
  await t.rejects(pipeline(Readable.from(interrupted()), broken.body), /disconnected/)
  await t.rejects(broken.finish(form))
  await assertLeftovers(t, place)
})

t.test('a file is not visible before its grant', async t => {
  const place = await openUploads(t)
  const arriving = unwrap(await place.uploads.receive(place.owner, 'image/png'))
  await pipeline(Readable.from([png]), arriving.body)
  t.same([(await filesIn(place, 'arriving')).length, await filesIn(place, 'uploads')], [1, []])
  t.same(await uploadEvents(place.core.log, place.owner), [])
  await arriving.discard()
})

t.test('a file that reaches its place after the end of its grant is deleted', async t => {
  const place = await openUploads(t)
  // The store is so slow that another process settles the grant first.
  const receive = receiveWith(place, async (store, settle) => {
    await settle()
    await store()
  })
  await t.rejects(send(faultyUploads(place, { store: { receive } }), place.owner), Unavailable)
  await assertLeftovers(t, place, 'UploadGranted', 'UploadDeleted')
})

t.test('a file that another process settles in the meantime is kept', async t => {
  const place = await openUploads(t)
  const receive = receiveWith(place, async (store, settle) => {
    await store()
    await settle()
  })
  const row = unwrap(await send(faultyUploads(place, { store: { receive } }), place.owner))
  await caughtUp(place.core)
  t.match(await place.uploads.find(place.owner, row.uploadId), { value: { ...row } })
  const types = (await uploadEvents(place.core.log, place.owner)).map(({ type }) => type)
  t.same(types, ['UploadGranted', 'UploadStored'])
  t.equal((await filesIn(place, 'uploads')).length, 1)
})

t.test('a stored file that could not be recorded is found later', async t => {
  const place = await openUploads(t)
  const uploads = faultyUploads(place, { fates: [append => append(), unavailable] })
  await t.rejects(send(uploads, place.owner), Unavailable)
  const [granted] = await uploadEvents(place.core.log, place.owner)
  t.equal(granted?.type, 'UploadGranted')
  await caughtUp(place.core)
  const row = granted && (await place.uploads.find(place.owner, granted.data.uploadId))
  t.match(row, { value: { status: 'stored', sizeBytes: png.length } })
})

async function* interrupted() {
  yield png.subarray(0, 20)
  throw new Error('the sender disconnected')
}
