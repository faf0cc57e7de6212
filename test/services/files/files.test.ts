import { Readable } from 'node:stream'
import t from 'tap'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { ObjectStore, PutGrant } from '../../../src/ports/object-store.ts'
import { Files } from '../../../src/services/files/files.ts'
import { UploadFinder } from '../../../src/services/uploads/upload-finder.ts'
import { caughtUp } from '../../support/caught-up.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { picture } from '../../support/sample-files.ts'
import { unwrap } from '../../support/unwrap.ts'
import { openUploads, PNG_REQUEST, SEAL_AFTER_MS, uploadEvents } from '../../support/uploads.ts'

const png = await picture('png')
const anyone = { kind: 'anonymous' } as const

type Place = Awaited<ReturnType<typeof openUploads>>

/** The files of a place, with a changed object store or log. */
const filesOf = (place: Place, { objects = {}, log = {} }: { objects?: Partial<ObjectStore>; log?: object } = {}) => {
  const { core, settlement } = place
  const finder = new UploadFinder({ ...core, settlement })
  return new Files({ ...core, finder, objects: { ...place.objects, ...objects }, log: { ...core.log, ...log } })
}

/** Grants an address that is valid by the real time, and returns a function that sends a file there. */
const grant = async (place: Place) => {
  const { upload, presignedUrl } = unwrap(await place.uploads.presign(place.owner, PNG_REQUEST))
  const { searchParams: query } = new URL(presignedUrl)
  const put = { key: upload.objectKey, query, mimeType: undefined, sizeBytes: undefined }
  const send = (files: Files) => files.receive(anyone, { ...put, body: Readable.from([png]) })
  return { ...upload, send }
}

const open = (t: Parameters<typeof openUploads>[0]) => openUploads(t, { clock: new ManualClock(Date.now()) })

t.test('a file that goes to its place just after the deletion of its upload is deleted', async t => {
  const place = await open(t)
  const { uploadId, objectKey, send } = await grant(place)
  const acceptPut: ObjectStore['acceptPut'] = async (put, admit) => {
    let calls = 0
    const accepted = await place.objects.acceptPut?.(put, async (granted: PutGrant) => {
      await admit(granted)
      calls += 1
      if (calls === 2) unwrap(await place.uploads.delete(place.owner, uploadId))
    })
    t.ok(await place.objects.stat(objectKey))
    return accepted as PutGrant
  }
  t.same(await send(filesOf(place, { objects: { acceptPut } })), { refuse: { code: 'put_address_withdrawn' } })
  t.equal(await place.objects.stat(objectKey), undefined)
  const types = (await uploadEvents(place.core.log, place.owner)).map(({ type }) => type)
  t.same(types, ['UploadGranted', 'UploadDeletionRequested'])
})

t.test('no file is taken once its upload is sealed', async t => {
  const place = await open(t)
  const { uploadId, objectKey, send } = await grant(place)
  const files = filesOf(place)
  unwrap(await send(files))
  t.match(await files.stat(anyone, objectKey), { value: { isInspected: false } })
  place.clock.advance(SEAL_AFTER_MS)
  await place.work(async () => (await uploadEvents(place.core.log, place.owner)).length === 2)
  t.match(await files.stat(anyone, objectKey), { value: { isInspected: true } })
  // The address is still valid by the real time.
  t.same(await send(files), { refuse: { code: 'put_address_withdrawn' } })
  t.match(await place.uploads.find(place.owner, uploadId), { value: { sealed: true } })
})

t.test('a file counts as not inspected while the views cannot tell', async t => {
  const place = await open(t)
  const { uploadId, objectKey, send } = await grant(place)
  unwrap(await send(filesOf(place)))
  unwrap(await place.uploads.find(place.owner, uploadId))
  const head = async () => {
    throw new Unavailable('the log is down')
  }
  await caughtUp(place.core)
  t.match(await filesOf(place, { log: { head } }).stat(anyone, objectKey), { value: { isInspected: true } })
  const { objectKey: other, send: sendOther } = await grant(place)
  unwrap(await sendOther(filesOf(place)))
  t.match(await filesOf(place, { log: { head } }).stat(anyone, other), { value: { isInspected: false } })
})

t.test('a file that was just inspected counts as inspected before the views show it', async t => {
  const place = await open(t)
  const { uploadId, objectKey, send } = await grant(place)
  const files = filesOf(place)
  unwrap(await send(files))
  unwrap(await place.uploads.find(place.owner, uploadId))
  t.match(await files.stat(anyone, objectKey), { value: { isInspected: true } })
})

t.test('without the log, no file is taken', async t => {
  const place = await open(t)
  const { objectKey, send } = await grant(place)
  const currentState = async () => {
    throw new Unavailable('the log is down')
  }
  const { core, objects, settlement } = place
  const accounts = Object.create(core.accounts, { currentState: { value: currentState } })
  const finder = new UploadFinder({ ...core, settlement })
  await t.rejects(send(new Files({ ...core, accounts, finder, objects })), Unavailable)
  t.equal(await place.objects.stat(objectKey), undefined)
})
