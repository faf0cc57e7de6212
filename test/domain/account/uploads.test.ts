import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { MAX_LIVE_UPLOADS } from '../../../schemas/primitives.ts'
import { account } from '../../../src/domain/account/account.ts'
import { sendRefusal } from '../../../src/domain/account/uploads.ts'
import {
  digest,
  grantUpload,
  keyCreated,
  keyId,
  keyRevoked,
  opened,
  recordUploadDeletion,
  requestUploadDeletion,
  storeUpload,
  uploadDeleted,
  uploadDeletionRequested,
  uploadGranted,
  uploadId,
  uploadStored,
} from '../../support/account-samples.ts'
import { given } from '../../support/given.ts'

const open = [opened(), keyCreated()]
const granted = [...open, uploadGranted()]
const stored = [...granted, uploadStored()]
const sealed = [...granted, uploadStored(1, { sealed: true })]

const full = [...open, ...Array.from({ length: MAX_LIVE_UPLOADS }, (_, index) => uploadGranted({ upload: index + 1 }))]
const next = MAX_LIVE_UPLOADS + 1

t.test('an upload is granted to an active key', async () => {
  given(account, ...open)
    .when(grantUpload())
    .then(uploadGranted())
  given(account, ...open, keyRevoked())
    .when(grantUpload())
    .refused('key_revoked')
})

t.test('an upload is granted only once', async () => {
  for (const history of [granted, stored, sealed, [...granted, uploadDeletionRequested()]])
    given(account, ...history)
      .when(grantUpload())
      .refused('upload_exists')
})

t.test('a file is stored at its first use and sealed once', async () => {
  given(account, ...granted)
    .when(storeUpload())
    .then(uploadStored())
  given(account, ...stored)
    .when(storeUpload())
    .refused('upload_already_stored')
  given(account, ...stored)
    .when(storeUpload(1, { sealed: true, hash: digest('f') }))
    .then(uploadStored(1, { sealed: true, hash: digest('f') }))
})

t.test('a file that cannot be replaced is sealed at once and only once', async () => {
  given(account, ...granted)
    .when(storeUpload(1, { sealed: true }))
    .then(uploadStored(1, { sealed: true }))
  for (const command of [storeUpload(), storeUpload(1, { sealed: true })])
    given(account, ...sealed)
      .when(command)
      .refused('upload_already_stored')
})

t.test('a file cannot be stored without a grant or after a deletion request', async () => {
  for (const history of [open, [...stored, uploadDeletionRequested()], [...sealed, uploadDeleted()]])
    for (const command of [storeUpload(), storeUpload(1, { sealed: true })])
      given(account, ...history)
        .when(command)
        .refused('upload_not_found')
})

t.test('a deletion can be requested at any time and is recorded once', async () => {
  for (const history of [granted, stored, sealed]) {
    given(account, ...history)
      .when(requestUploadDeletion())
      .then(uploadDeletionRequested())
    given(account, ...history, uploadDeletionRequested())
      .when(requestUploadDeletion())
      .then()
  }
  for (const history of [open, [...sealed, uploadDeleted()]])
    given(account, ...history)
      .when(requestUploadDeletion())
      .refused('upload_not_found')
})

t.test('a deletion is recorded only once', async () => {
  for (const history of [granted, stored, sealed, [...sealed, uploadDeletionRequested()]]) {
    given(account, ...history)
      .when(recordUploadDeletion(1, 'requested'))
      .then(uploadDeleted(1, 'requested'))
    given(account, ...history, uploadDeleted())
      .when(recordUploadDeletion(1, 'requested'))
      .refused('upload_not_found')
  }
})

t.test('uploads do not affect each other', async () => {
  const two = given(account, ...sealed, uploadGranted({ upload: 2 }))
  two.when(storeUpload(2)).then(uploadStored(2))
  two.when(requestUploadDeletion(2)).then(uploadDeletionRequested(2))
  two.when(storeUpload(3)).refused('upload_not_found')
})

t.test('an account has at most 10,000 uploads, counting those without a file', async () => {
  given(account, ...full.slice(0, -1))
    .when(grantUpload({ upload: next }))
    .then(uploadGranted({ upload: next }))
  for (const history of [full, [...full, uploadStored()], [...full, uploadDeletionRequested()]])
    given(account, ...history)
      .when(grantUpload({ upload: next }))
      .refused('too_many_uploads', { limit: MAX_LIVE_UPLOADS })
})

t.test('a deleted upload leaves the state and makes room for another', async t => {
  const deleted = given(account, ...full, uploadDeleted())
  t.equal(deleted.state.uploads.has(uploadId()), false)
  deleted.when(grantUpload({ upload: next })).then(uploadGranted({ upload: next }))
})

t.test('the uploads of an account have a quota', async t => {
  // A sample may have 1,000 bytes, and has 3.
  const second = (quotaBytes: number) => grantUpload({ upload: 2 }, 1, quotaBytes)
  const accepts = (quotaBytes: number, ...history: AccountEvent[]) => {
    given(account, ...history)
      .when(second(quotaBytes))
      .then(uploadGranted({ upload: 2 }))
    given(account, ...history)
      .when(second(quotaBytes - 1))
      .refused('upload_quota_exceeded', { quotaBytes: quotaBytes - 1 })
  }
  accepts(1000, ...open)
  for (const history of [granted, stored, [...stored, uploadDeletionRequested()]]) accepts(2000, ...history)
  for (const history of [sealed, [...stored, uploadStored(1, { sealed: true })]]) accepts(1003, ...history)
  for (const history of [granted, stored, sealed]) accepts(1000, ...history, uploadDeleted())
  t.equal(given(account, ...sealed, uploadGranted({ upload: 2 }), uploadDeleted()).state.uploadBytes, 1000)
})

t.test('a file may be sent until its upload is sealed or deleted, or its key revoked', async t => {
  const refusalAfter = (history: AccountEvent[], key = 1) =>
    sendRefusal({ keyId: keyId(key), uploadId: uploadId() }, given(account, ...history).state)?.code
  for (const history of [granted, stored]) t.equal(refusalAfter(history), undefined)
  const deletions = [uploadDeletionRequested(), uploadDeleted()]
  for (const history of [open, sealed, ...deletions.map(event => [...granted, event]), [...granted, keyRevoked()]])
    t.equal(refusalAfter(history), 'put_address_withdrawn')
  t.equal(refusalAfter(granted, 2), 'put_address_withdrawn')
  const { state } = given(account, ...granted, keyRevoked())
  t.equal(sendRefusal({ keyId: undefined, uploadId: uploadId() }, state), undefined, 'its owner asked without a key')
})
