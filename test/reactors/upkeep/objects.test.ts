import t from 'tap'
import type { UploadGranted } from '../../../schemas/account-events.ts'
import { accountStream } from '../../../schemas/events.ts'
import { MAX_PRESIGNED_BYTES, type RunId } from '../../../schemas/primitives.ts'
import type { DueRow } from '../../../schemas/views.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { sha256 } from '../../../src/domain/digest.ts'
import { mimeTypeOf } from '../../../src/domain/media-types.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { ObjectStore } from '../../../src/ports/object-store.ts'
import type { Entry, Range, ViewStore } from '../../../src/ports/view-store.ts'
import type { AccountCaller } from '../../../src/services/caller.ts'
import { UploadSettlement } from '../../../src/services/uploads/upload-settlement.ts'
import {
  completeRun,
  failRun,
  keptOutput,
  objectKey,
  queueRun,
  runId,
  startRun,
} from '../../support/account-samples.ts'
import { collect } from '../../support/collect.ts'
import { picture, pngWith } from '../../support/sample-files.ts'
import { unwrap } from '../../support/unwrap.ts'
import { fates, openUploads, PNG_REQUEST, SEAL_AFTER_MS } from '../../support/uploads.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const RETENTION_MS = 7 * DAY_MS

const caller = { kind: 'service' } as const
const [png, other, jpeg] = [await picture('png'), await picture('png', 7), await picture('jpeg')]

type Place = Awaited<ReturnType<typeof openUploads>>

const grant = async ({ uploads, owner }: Place): Promise<UploadGranted> =>
  unwrap(await uploads.presign(owner, PNG_REQUEST)).upload

const send = ({ objects }: Place, { objectKey, mimeType }: UploadGranted, file: Buffer) =>
  objects.put(objectKey, file, mimeType)

/** An upload whose file has arrived and is sealed. */
const grantSealed = async (place: Place): Promise<UploadGranted> => {
  const upload = await grant(place)
  await send(place, upload, png)
  await place.settlement.seal(caller, { ...upload, accountId: place.owner.accountId })
  await place.core.reads.ownWrites(place.owner.accountId)
  return upload
}

const requestDeletion = ({ core, owner }: Place, { uploadId }: UploadGranted) =>
  core.accounts.execute(caller, owner.accountId, { type: 'RequestUploadDeletion', uploadId })

const fateOf = async ({ core, owner }: Place, { uploadId }: UploadGranted) => (await fates(core.log, owner))[uploadId]

const hasEnded = async (place: Place, upload: UploadGranted) =>
  !['stored', 'deleting', undefined].includes((await fateOf(place, upload))?.at(-1))

const isThere = async ({ objects }: Place, { objectKey }: UploadGranted) =>
  (await objects.stat(objectKey)) !== undefined

/** An ended run with an output file that is kept until `willDeleteAt`. */
const makeOutput = async ({ core, owner, objects }: Place, run: number, willDeleteAt: string) => {
  await objects.put(objectKey(run, 'outputs'), png, 'image/png')
  const output = keptOutput(willDeleteAt, run)
  for (const command of [queueRun({ run, credits: 1 }), startRun(run), completeRun(run, output)])
    await core.accounts.execute(caller, owner.accountId, command)
}

/** The run of every recorded output deletion. */
const deletedOutputs = async (log: EventLog, { accountId }: Pick<AccountCaller, 'accountId'>): Promise<RunId[]> =>
  (await collect(log.readStream(accountStream(accountId), 0)))
    .filter(({ type }) => type === 'RunOutputDeleted')
    .map(({ data }) => (data as { runId: RunId }).runId)

const iso = (ms: number) => new Date(ms).toISOString()

/** The length, type and checksum of a PNG chunk. */
const CHUNK_OVERHEAD = 12

t.test('grants are settled after their end', async t => {
  const place = await openUploads(t)
  const names = ['neverSent', 'sent', 'largest', 'tooLarge', 'otherType', 'replaced', 'spoilt', 'used'] as const
  const granted = await Promise.all(names.map(async name => [name, await grant(place)] as const))
  const of = Object.fromEntries(granted) as Record<(typeof names)[number], UploadGranted>
  for (const name of names) if (name !== 'neverSent') await send(place, of[name], name === 'otherType' ? jpeg : png)
  const largest = pngWith(png, 'teSt', Buffer.alloc(MAX_PRESIGNED_BYTES - png.length - CHUNK_OVERHEAD))
  await send(place, of.largest, largest)
  await send(place, of.tooLarge, Buffer.concat([largest, Buffer.alloc(1)]))
  for (const name of ['replaced', 'spoilt', 'used'] as const) await place.uploads.find(place.owner, of[name].uploadId)
  await send(place, of.replaced, other)
  await send(place, of.spoilt, jpeg)

  place.clock.advance(SEAL_AFTER_MS)
  await place.work(async () => (await Promise.all(names.map(name => hasEnded(place, of[name])))).every(Boolean))
  const ended = await Promise.all(
    names.map(async name => [name, await fateOf(place, of[name]), await isThere(place, of[name])]),
  )
  t.same(ended, [
    ['neverSent', ['never_sent'], false],
    ['sent', ['sealed'], true],
    ['largest', ['sealed'], true],
    ['tooLarge', ['too_large'], false],
    ['otherType', ['unsupported_type'], false],
    ['replaced', ['stored', 'sealed'], true],
    ['spoilt', ['stored', 'unsupported_type'], false],
    ['used', ['stored', 'sealed'], true],
  ])
  const row = unwrap(await place.uploads.find(place.owner, of.replaced.uploadId))
  t.match(row, { status: 'stored', sealed: true, sizeBytes: other.length })
  t.match(await place.uploads.find(place.owner, of.spoilt.uploadId), { refuse: { code: 'upload_not_found' } })
})

t.test('a grant is not settled while its file may still arrive', async t => {
  const place = await openUploads(t)
  const first = await grant(place)
  place.clock.advance(1)
  const second = await grant(place)
  place.clock.advance(SEAL_AFTER_MS - 1)
  await place.work(() => hasEnded(place, first))
  t.same([await fateOf(place, first), await fateOf(place, second)], [['never_sent'], []])
})

t.test('a file is deleted at the end of its retention and not earlier', async t => {
  const place = await openUploads(t)
  const first = await grantSealed(place)
  place.clock.advance(1)
  const second = await grantSealed(place)
  t.equal(first.willDeleteAt, iso(place.clock.nowMs() - 1 + RETENTION_MS))
  place.clock.advance(RETENTION_MS - 1)
  await place.work(async () => (await fateOf(place, first))?.at(-1) === 'expired')
  t.same([await isThere(place, first), await isThere(place, second)], [false, true])
  t.same([await fateOf(place, first), await fateOf(place, second)], [['sealed', 'expired'], ['sealed']])
})

t.test('a deletion begun by a dead process is completed by the next', async t => {
  const place = await openUploads(t)
  const [requested, gone] = [await grantSealed(place), await grantSealed(place)]
  for (const upload of [requested, gone]) await requestDeletion(place, upload)
  await place.objects.delete(gone.objectKey)
  await place.work(async () => (await hasEnded(place, requested)) && (await hasEnded(place, gone)))
  for (const upload of [requested, gone]) {
    t.same(await fateOf(place, upload), ['sealed', 'deleting', 'requested'])
    t.notOk(await isThere(place, upload))
  }
})

t.test('an expired file deleted by a dead process is recorded by the next', async t => {
  const place = await openUploads(t)
  const upload = await grantSealed(place)
  place.clock.advance(RETENTION_MS)
  await place.objects.delete(upload.objectKey)
  await place.work(async () => (await fateOf(place, upload))?.at(-1) === 'expired')
  t.same(await fateOf(place, upload), ['sealed', 'expired'])
})

t.test('a file sent after its deletion is deleted at the end of its grant', async t => {
  const place = await openUploads(t)
  const upload = await grant(place)
  await send(place, upload, png)
  await place.uploads.delete(place.owner, upload.uploadId)
  t.notOk(await isThere(place, upload))
  await send(place, upload, png)
  place.clock.advance(SEAL_AFTER_MS)
  await place.work(async () => (await fateOf(place, upload))?.at(-1) === 'requested')
  t.same(await fateOf(place, upload), ['deleting', 'requested'])
  t.notOk(await isThere(place, upload))
})

t.test('what a failed run has left is deleted after its deadline, and nothing of other runs', async t => {
  const place = await openUploads(t)
  const { core, owner, objects, outputKeys, clock } = place
  const execute = (command: AccountCommand) => core.accounts.execute(caller, owner.accountId, command)
  const put = async (run: number, index: number, mimeType: string) => {
    const key = outputKeys.keyOf(runId(run), index, mimeType)
    await objects.put(key, png, mimeType)
    return key
  }
  const kept = [await put(1, 0, 'image/png'), await put(3, 0, 'image/png')]
  const left = [await put(2, 0, 'image/png'), await put(2, 3, 'video/mp4'), await put(2, 15, 'model/obj')]
  for (const run of [1, 2, 3]) {
    await execute(queueRun({ run, credits: 1 }))
    await execute(startRun(run))
  }
  await execute(completeRun(1, { artifacts: [], willDeleteAt: iso(clock.nowMs() + RETENTION_MS) }))
  await execute(failRun(2, 'interrupted', iso(clock.nowMs() + 1_000)))
  const areThere = (keys: string[]) => Promise.all(keys.map(async key => (await objects.stat(key)) !== undefined))
  const workUntilDeleted = (run: number) =>
    place.work(async () => (await deletedOutputs(core.log, owner)).includes(runId(run)))

  clock.advance(999)
  await makeOutput(place, 11, iso(clock.nowMs()))
  await workUntilDeleted(11)
  t.same(await areThere(left), [true, true, true], 'a slow process may still store files')
  clock.advance(1)
  await workUntilDeleted(2)
  t.same(await areThere(left), [false, false, false])
  t.same(await areThere(kept), [true, true])
  t.same(await deletedOutputs(core.log, owner), [runId(11), runId(2)])
})

t.test(
  'the long parts of an input, and a thumbnail, go with the result of their run, and with what a failed run has left',
  async t => {
    const place = await openUploads(t)
    const { core, owner, objects, outputKeys, clock } = place
    const image = (run: number) => ({
      ...{ objectKey: outputKeys.imageKeyOf(runId(run), 0, 'image/png'), mimeType: 'image/png' },
      ...{ sizeBytes: png.length, sha256: sha256(png) },
    })
    const inputs = (run: number) => [
      ...[0, 1].map(index => outputKeys.inputKeyOf(runId(run), index)),
      outputKeys.thumbnailOf(runId(run)),
      image(run).objectKey,
    ]
    for (const key of [1, 2, 3].flatMap(inputs)) await objects.put(key, Buffer.from('[]'), mimeTypeOf(key))
    const execute = (command: AccountCommand) => core.accounts.execute(caller, owner.accountId, command)
    for (const run of [1, 2]) {
      const command = queueRun({ run, credits: 1 })
      await execute({ ...command, run: { ...command.run, inputFiles: [image(run)] } })
      await execute(startRun(run))
    }
    await execute(completeRun(1, { artifacts: [], willDeleteAt: iso(clock.nowMs()) }))
    await execute(failRun(2, 'provider_error', iso(clock.nowMs())))
    await place.work(async () => (await deletedOutputs(core.log, owner)).length === 2)
    const areThere = await Promise.all(
      [1, 2, 3].flatMap(inputs).map(async key => (await objects.stat(key)) !== undefined),
    )
    t.same(areThere, [...Array(8).fill(false), ...Array(4).fill(true)])
  },
)

t.test('due work for a run that did not fail deletes nothing', async t => {
  const place = await openUploads(t)
  const { core, owner, objects, outputKeys, clock } = place
  const { accountId } = owner
  const key = outputKeys.keyOf(runId(1), 0, 'image/png')
  await objects.put(key, png, 'image/png')
  for (const command of [queueRun({ credits: 1 }), startRun(), completeRun()])
    await core.accounts.execute(caller, accountId, command)
  await core.reads.ownWrites(accountId)
  const row = { task: 'delete-left', queue: 'objects/outputs', dueAt: iso(clock.nowMs()), accountId, runId: runId(1) }
  let released = 0
  const views: ViewStore = {
    ...core.views,
    list: async <Row>() => (released === 0 ? [{ place: 'objects/outputs/a', key: 'a', row: row as Row }] : []),
    release: async (keys, holder) => {
      await core.views.release(keys, holder)
      released += keys.length
    },
  }
  await place.work(() => released > 0, { views })
  t.ok(await objects.stat(key))
  t.same(await deletedOutputs(core.log, owner), [])
})

t.test('a result that is stored again while its deletion is recorded is deleted, too', async t => {
  const place = await openUploads(t)
  await makeOutput(place, 1, iso(place.clock.nowMs()))
  const key = objectKey(1, 'outputs')
  let isLate = true
  const deleteAll: ObjectStore['deleteAll'] = async keys => {
    await place.objects.deleteAll(keys)
    // Another process comes too late to end the run, and keeps what the end names.
    if (isLate) await place.objects.put(key, png, 'image/png')
    isLate = false
  }
  const isGone = async () => (await place.objects.stat(key)) === undefined
  await place.work(async () => !isLate && (await isGone()), { objects: { ...place.objects, deleteAll } })
  t.same(await deletedOutputs(place.core.log, place.owner), [runId(1)])
})

t.test('failed operations of the store are retried', async t => {
  const place = await openUploads(t)
  const [sent, expired] = [await grant(place), await grantSealed(place)]
  await send(place, sent, png)
  place.clock.advance(RETENTION_MS)
  await makeOutput(place, 1, iso(place.clock.nowMs()))
  const attemptedKeys = new Set<string>()
  const refuse = (key: string) => {
    attemptedKeys.add(key)
    return Promise.reject(new Unavailable('no answer'))
  }
  const deleteAll = ([key = '']: readonly string[]) => refuse(key)
  const objects: ObjectStore = { ...place.objects, get: refuse, delete: refuse, deleteAll }
  const settlement = new UploadSettlement(place.core.accounts, objects)
  await place.work(() => attemptedKeys.size === 3, { objects, settlement })
  t.same([await fateOf(place, sent), await fateOf(place, expired)], [[], ['sealed']])
  t.same(await deletedOutputs(place.core.log, place.owner), [])

  const { core, owner } = place
  const isDone = async () =>
    (await fateOf(place, sent))?.at(-1) === 'expired' && (await deletedOutputs(core.log, owner)).length === 1
  await place.work(isDone)
  t.same(
    [await fateOf(place, sent), await fateOf(place, expired)],
    [
      ['sealed', 'expired'],
      ['sealed', 'expired'],
    ],
  )
})

t.test('two processes record each outcome once', async t => {
  const place = await openUploads(t)
  const { core, owner, clock } = place
  const granted = await Promise.all(Array.from({ length: 20 }, () => grant(place)))
  const expired = await Promise.all(Array.from({ length: 20 }, () => grantSealed(place)))
  const leaving = await Promise.all(Array.from({ length: 20 }, () => grantSealed(place)))
  for (const upload of leaving) await requestDeletion(place, upload)
  clock.advance(RETENTION_MS)
  for (let run = 1; run <= 20; run++) await makeOutput(place, run, iso(clock.nowMs()))

  const all = [...granted, ...expired, ...leaving]
  const isDone = async () => {
    const outputs = await deletedOutputs(core.log, owner)
    const ended = await fates(core.log, owner)
    return (
      outputs.length >= 20 &&
      all.every(({ uploadId }) => !['sealed', 'deleting', undefined].includes(ended[uploadId]?.at(-1)))
    )
  }
  await Promise.all([place.work(isDone), place.work(isDone)])
  const ended = await fates(core.log, owner)
  for (const { uploadId } of granted) t.same(ended[uploadId], ['never_sent'])
  for (const { uploadId } of expired) t.same(ended[uploadId], ['sealed', 'expired'])
  for (const { uploadId } of leaving) t.same(ended[uploadId], ['sealed', 'deleting', 'requested'])
  const outputs = await deletedOutputs(core.log, owner)
  t.same(
    outputs.sort(),
    Array.from({ length: 20 }, (_, index) => runId(index + 1)),
  )
})

t.test('a suspended process does not repeat the records of another', async t => {
  const place = await openUploads(t)
  const { core, owner, clock } = place
  const upload = await grantSealed(place)
  clock.advance(RETENTION_MS)
  await makeOutput(place, 1, iso(clock.nowMs()))
  await core.reads.ownWrites(owner.accountId)
  const before = await core.views.list<DueRow>('due', 'byQueue', { prefix: 'objects/', limit: 10 })
  t.equal(before.length, 2)
  const isDone = async () => (await deletedOutputs(core.log, owner)).length === 1 && hasEnded(place, upload)
  await place.work(isDone)

  // The process continues with the due rows that it read before.
  let released = 0
  const views: ViewStore = {
    ...core.views,
    list: async <Row>(_view: string, _index: string, { prefix, after = '', before: end = '~', limit }: Range) =>
      before
        .filter(({ place }) => place.startsWith(prefix) && place > after && place < end)
        .slice(0, limit) as Entry<Row>[],
    release: async (keys, holder) => {
      released += keys.length
      await core.views.release(keys, holder)
    },
  }
  await place.work(() => released === 2, { views })
  t.same(await fateOf(place, upload), ['sealed', 'expired'])
  t.same(await deletedOutputs(core.log, owner), [runId(1)])
})
