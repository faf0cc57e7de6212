import t from 'tap'
import { KEY_SCOPES } from '../../../schemas/actor.ts'
import { MAX_ACTIVE_KEYS } from '../../../schemas/primitives.ts'
import { account } from '../../../src/domain/account/account.ts'
import {
  accepted,
  cancelRun,
  createKey,
  granted,
  grantUpload,
  keyCreated,
  keyId,
  keyRevoked,
  oldKeyCreated,
  opened,
  queueRun,
  requestUploadDeletion,
  revokeKey,
  storeUpload,
  uploadGranted,
} from '../../support/account-samples.ts'
import { given } from '../../support/given.ts'

const full = [opened(), ...Array.from({ length: MAX_ACTIVE_KEYS }, (_, index) => keyCreated(index + 1))]

t.test('the event that revokes a key holds the key hash', async () => {
  given(account, opened()).when(createKey()).then(keyCreated())
  given(account, opened(), keyCreated()).when(revokeKey()).then(keyRevoked())
})

t.test('an unknown or revoked key cannot be revoked', async () => {
  given(account, opened()).when(revokeKey()).refused('key_not_found')
  given(account, opened(), keyCreated(1)).when(revokeKey(2)).refused('key_not_found')
  given(account, opened(), keyCreated(), keyRevoked()).when(revokeKey()).refused('key_not_found')
})

t.test('a key that expires creates only keys that expire with it', async () => {
  const [soon, later] = ['2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z']
  const manager = given(account, opened(), keyCreated(1, 'keys', { expiresAt: soon }), keyCreated(2, 'keys'))
  const create = (askedWith: number, limits = {}) => ({ ...createKey(3, 'full', limits), askedWith: keyId(askedWith) })
  for (const limits of [{}, { expiresAt: later }])
    manager.when(create(1, limits)).then(keyCreated(3, 'full', { expiresAt: soon }))
  const sooner = { expiresAt: '2026-11-30T00:00:00.000Z' }
  manager.when(create(1, sooner)).then(keyCreated(3, 'full', sooner))
  manager.when(create(2)).then(keyCreated(3, 'full'))
})

t.test('an account has at most 100 active keys', async () => {
  given(account, ...full.slice(0, -1))
    .when(createKey(100))
    .then(keyCreated(100))
  given(account, ...full)
    .when(createKey(101))
    .refused('too_many_keys', { limit: MAX_ACTIVE_KEYS })
})

t.test('a revoked key leaves the state and makes room for another', async t => {
  const revoked = given(account, ...full, keyRevoked(1))
  t.equal(revoked.state.activeKeys.size, MAX_ACTIVE_KEYS - 1)
  revoked.when(createKey(101)).then(keyCreated(101))
})

t.test('a key keeps the scope that it was created with', async () => {
  for (const scope of KEY_SCOPES) given(account, opened()).when(createKey(1, scope)).then(keyCreated(1, scope))
})

t.test('only a full key can spend credits, cancel runs, and store and delete files', async () => {
  for (const scope of ['read', 'keys'] as const) {
    const scoped = given(account, opened(), granted(100), keyCreated(1, scope))
    scoped.when(queueRun({ askedWith: 1 })).refused('forbidden', { scope })
    scoped.when(grantUpload()).refused('forbidden', { scope })
    scoped.when(storeUpload(1, { askedWith: 1 })).refused('forbidden', { scope })
    scoped.when(requestUploadDeletion(1, 1)).refused('forbidden', { scope })
    scoped.when(cancelRun(1, 1)).refused('forbidden', { scope })
  }
})

t.test('another active key does not help a revoked or limited one', async () => {
  const asked = [
    queueRun({ askedWith: 1 }),
    grantUpload(),
    storeUpload(1, { askedWith: 1 }),
    requestUploadDeletion(1, 1),
    cancelRun(1, 1),
  ]
  const others = [keyCreated(2), keyCreated(3)]
  const revoked = given(account, opened(), granted(100), keyCreated(), ...others, keyRevoked())
  const limited = given(account, opened(), granted(100), keyCreated(1, 'read'), ...others)
  for (const command of asked) {
    revoked.when(command).refused('key_revoked')
    limited.when(command).refused('forbidden', { scope: 'read' })
  }
})

t.test('a key created before scopes existed is a full key', async () => {
  const old = given(account, opened(), granted(100), oldKeyCreated())
  old.when(queueRun({ askedWith: 1 })).then(...accepted({ after: 90 }))
  old.when(grantUpload()).then(uploadGranted())
})
