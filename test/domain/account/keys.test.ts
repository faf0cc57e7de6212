import t from 'tap'
import { MAX_ACTIVE_KEYS } from '../../../schemas/primitives.ts'
import { account } from '../../../src/domain/account/account.ts'
import { createKey, keyCreated, keyRevoked, opened, revokeKey } from '../../support/account-samples.ts'
import { given } from '../../support/given.ts'

const full = [opened(), ...Array.from({ length: MAX_ACTIVE_KEYS }, (_, index) => keyCreated(index + 1))]

t.test('a key is created, and revoked with the hash that it had', async () => {
  given(account, opened()).when(createKey()).then(keyCreated())
  given(account, opened(), keyCreated()).when(revokeKey()).then(keyRevoked())
})

t.test('a key that is not there, or no longer, cannot be revoked', async () => {
  given(account, opened()).when(revokeKey()).refused('key_not_found')
  given(account, opened(), keyCreated(1)).when(revokeKey(2)).refused('key_not_found')
  given(account, opened(), keyCreated(), keyRevoked()).when(revokeKey()).refused('key_not_found')
})

t.test('one account has a hundred active keys at the most', async () => {
  given(account, ...full.slice(0, -1))
    .when(createKey(100))
    .then(keyCreated(100))
  given(account, ...full)
    .when(createKey(101))
    .refused('too_many_keys', { limit: MAX_ACTIVE_KEYS })
})

t.test('a revoked key leaves the state and makes room', async t => {
  const revoked = given(account, ...full, keyRevoked(1))
  t.equal(revoked.state.activeKeys.size, MAX_ACTIVE_KEYS - 1)
  revoked.when(createKey(101)).then(keyCreated(101))
})
