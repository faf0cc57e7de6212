import t from 'tap'
import { fold } from '../../projections/define.ts'
import { uploadKey, uploads } from '../../projections/uploads.ts'
import type { AccountEvent } from '../../schemas/account-events.ts'
import type { UploadRow } from '../../schemas/views.ts'
import {
  accountId,
  digest,
  objectKey,
  RECORDED_AT,
  recorded,
  uploadDeleted,
  uploadDeletionRequested,
  uploadGranted,
  uploadId,
  uploadStored,
} from '../support/account-samples.ts'

const rowAfter = (...history: AccountEvent[]) =>
  fold(
    uploads,
    history.map(event => recorded(event)),
  )

const granted: UploadRow = {
  accountId: accountId(),
  uploadId: uploadId(),
  status: 'granted',
  objectKey: objectKey(),
  filename: 'beach.png',
  folderPath: 'photos/2026',
  mimeType: 'image/png',
  maxSizeBytes: 1000,
  sealed: false,
  createdAt: RECORDED_AT,
  expiresAt: '2026-01-01T00:15:00.000Z',
  willDeleteAt: '2026-01-08T00:00:00.000Z',
}
const stored: UploadRow = { ...granted, status: 'stored', sizeBytes: 3, sha256: digest('e') }

t.test('the row follows the status of the upload', async t => {
  const deletions = [uploadDeletionRequested(), uploadDeleted()]
  t.same(rowAfter(uploadGranted()), granted)
  t.same(rowAfter(uploadGranted(), uploadStored()), stored)
  t.same(rowAfter(uploadGranted(), uploadStored(), ...deletions.slice(0, 1)), { ...stored, status: 'deleting' })
  t.same(rowAfter(uploadGranted(), uploadStored(), ...deletions), undefined)
})

t.test('the sealed file replaces the file stored before', async t => {
  const last = uploadStored(1, { sealed: true, hash: digest('f') })
  t.same(rowAfter(uploadGranted(), uploadStored(), last), { ...stored, sha256: digest('f'), sealed: true })
})

t.test('an upload is found by its account and by its object', async t => {
  const key = uploadKey(accountId(), uploadId())
  for (const event of [uploadGranted(), uploadStored(), uploadDeletionRequested(), uploadDeleted()])
    t.equal(uploads.key(recorded(event)), key)
  t.equal(uploads.indexes['byObject']?.(stored, key), objectKey())
})
