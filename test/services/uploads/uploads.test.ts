import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import t, { type Test } from 'tap'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { ObjectStore } from '../../../src/ports/object-store.ts'
import { Accounts } from '../../../src/services/accounts/accounts.ts'
import type { Asker } from '../../../src/services/asker.ts'
import { UploadGrants } from '../../../src/services/uploads/upload-grants.ts'
import { UploadSettlement } from '../../../src/services/uploads/upload-settlement.ts'
import { Uploads } from '../../../src/services/uploads/uploads.ts'
import { caughtUp } from '../../support/caught-up.ts'
import { noSnapshots } from '../../support/engine.ts'
import { type Fate, faultyLog, unavailable } from '../../support/faulty-log.ts'
import { picture } from '../../support/sample-files.ts'
import { openUploads, uploadEvents } from '../../support/uploads.ts'

const png = await picture('png')
const form = { filename: 'beach.png' }

type Place = Awaited<ReturnType<typeof openUploads>>

const send = async (uploads: Uploads, asker: Asker, { file = png, mimeType = 'image/png' } = {}) => {
  const arriving = await uploads.receive()
  await pipeline(Readable.from([file]), arriving.body)
  return arriving.finish(asker, form, mimeType)
}

/** The files that lie in a folder of objects. */
const filesIn = (place: Place, folder: string) =>
  readdir(join(place.folder, 'objects', folder)).catch(() => [] as string[])

/** The same uploads on a log and a store of which some do not work. */
const others = (place: Place, { fates = [], store = {} }: { fates?: Fate[]; store?: Partial<ObjectStore> }) => {
  const { core } = place
  const accounts = new Accounts(faultyLog(core.log, ...fates), noSnapshots, place.clock)
  const objects = { ...place.objects, ...store }
  const settlement = new UploadSettlement(accounts, objects)
  const { uploadGrantMs: grantMs, retention } = core.config
  const grants = new UploadGrants({ ...core, accounts, retentionMs: retention.uploadsMs })
  return new Uploads({ ...core, accounts, objects, settlement, grants, grantMs })
}

/** That there is nothing of a file that was not taken but what the log has of it. */
const leavesOnly = async (t: Test, place: Place, ...types: string[]) => {
  t.same(
    (await uploadEvents(place.core.log, place.asker)).map(({ type }) => type),
    types,
  )
  t.same([await filesIn(place, 'arriving'), await filesIn(place, 'uploads')], [[], []])
}

t.test('a file that has come is there for good at once', async t => {
  const place = await openUploads(t)
  const row = await send(place.uploads, place.asker)
  t.match(row, { status: 'stored', sealed: true, filename: 'beach.png', sizeBytes: png.length })
  t.same(await place.uploads.find(place.asker, row.uploadId), row, 'as the views have it')
  t.same(await filesIn(place, 'arriving'), [])
  t.equal((await place.objects.stat(row.objectKey))?.sizeBytes, png.length)
})

t.test('nothing is left of a file that cannot be taken', async t => {
  const place = await openUploads(t)
  for (const wrong of [{ mimeType: 'image/webp' }, { file: Buffer.from('hello') }, { file: Buffer.alloc(0) }])
    await t.rejects(send(place.uploads, place.asker, wrong), { code: 'unsupported_media_type' })
  await leavesOnly(t, place)
})

t.test('nothing is left of a file that is not granted', async t => {
  const place = await openUploads(t)
  await t.rejects(send(others(place, { fates: [unavailable] }), place.asker), Unavailable)
  const { accountId, keyId } = place.asker
  await place.core.accounts.execute(accountId, { type: 'RevokeApiKey', keyId }, { actor: { kind: 'operator' } })
  await t.rejects(send(place.uploads, place.asker), { code: 'invalid_api_key' })
  await leavesOnly(t, place)
})

t.test('nothing is left of a file that is discarded, or whose sender breaks off', async t => {
  const place = await openUploads(t)
  const discarded = await place.uploads.receive()
  discarded.body.write(png)
  await discarded.discard()
  const broken = await place.uploads.receive()
  await t.rejects(pipeline(Readable.from(breakingOff()), broken.body), /broke off/)
  await t.rejects(broken.finish(place.asker, form, 'image/png'))
  await leavesOnly(t, place)
})

t.test('nobody sees a file before it is granted', async t => {
  const place = await openUploads(t)
  const arriving = await place.uploads.receive()
  await pipeline(Readable.from([png]), arriving.body)
  t.same([(await filesIn(place, 'arriving')).length, await filesIn(place, 'uploads')], [1, []])
  t.same(await uploadEvents(place.core.log, place.asker), [])
  await arriving.discard()
})

t.test('a file that comes into its place when its grant is over is taken away again', async t => {
  const place = await openUploads(t)
  const { settlement, asker } = place
  // The store takes so long that another process has looked at what came of the grant.
  const receive: ObjectStore['receive'] = async () => {
    const incoming = await place.objects.receive()
    return {
      ...incoming,
      store: async (key, mimeType) => {
        const [granted] = await uploadEvents(place.core.log, asker)
        if (granted?.type === 'UploadGranted')
          await settlement.seal({ ...granted.data, accountId: asker.accountId }, { actor: { kind: 'reactor' } })
        await incoming.store(key, mimeType)
      },
    }
  }
  await t.rejects(send(others(place, { store: { receive } }), asker), Unavailable)
  await leavesOnly(t, place, 'UploadGranted', 'UploadDeleted')
})

t.test('a file that came but could not be recorded is found later', async t => {
  const place = await openUploads(t)
  const uploads = others(place, { fates: [append => append(), unavailable] })
  await t.rejects(send(uploads, place.asker), Unavailable)
  const [granted] = await uploadEvents(place.core.log, place.asker)
  t.equal(granted?.type, 'UploadGranted')
  await caughtUp(place.core)
  const row = granted && (await place.uploads.find(place.asker, granted.data.uploadId))
  t.match(row, { status: 'stored', sizeBytes: png.length })
})

async function* breakingOff() {
  yield png.subarray(0, 20)
  throw new Error('the sender broke off')
}
