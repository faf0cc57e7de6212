import { createSecretKey, KeyObject } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemRandom } from '../../../src/adapters/random/system.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { ObjectStore } from '../../../src/ports/object-store.ts'
import { deriveKey } from '../../../src/services/derive-key.ts'
import { decrypt } from '../../../src/services/vault/cipher.ts'
import { type AccountKey, Vault } from '../../../src/services/vault/vault.ts'
import { openFolder } from '../../adapters/object-store/disk.ts'
import { accountId } from '../../support/account-samples.ts'

const ada = accountId(1)
const bob = accountId(2)

/** A vault as another process has it. */
const vaultOn = (store: Pick<ObjectStore, 'put' | 'get' | 'overwrite'>, masterSecret = 'a secret') =>
  new Vault({ objects: async () => store, close: async () => undefined, masterSecret, random: systemRandom })

const openVault = async (t: Test) => {
  const { store, folder } = await openFolder(t)
  const vault = vaultOn(store)
  const keys = () => readdir(join(folder, 'vault')).then(names => names.map(name => join(folder, 'vault', name)))
  return { store, vault, keys, again: (secret?: string) => vaultOn(store, secret) }
}

t.test('a key is created once, and every process reads it', async t => {
  const { vault, again } = await openVault(t)
  t.equal(vault.known(ada), undefined)
  const key = await vault.create(ada)
  t.equal((key as KeyObject).symmetricKeySize, 32)
  t.equal(vault.known(ada), key)
  const isKey = (other: AccountKey) => other !== 'destroyed' && other.equals(key as KeyObject)
  t.ok(isKey(await again().key(ada)))
  t.ok(isKey(await again().create(ada)), 'that of another process stays')
  t.notOk(isKey(await vault.create(bob)))
})

t.test('of processes that create the key of an account at once, all get the same', async t => {
  const { again, keys } = await openVault(t)
  const created = await Promise.all(Array.from({ length: 10 }, () => again().create(ada)))
  t.equal(new Set(created.map(key => (key as KeyObject).export().toString('hex'))).size, 1)
  t.equal((await keys()).length, 1)
})

t.test('a key is stored encrypted, under a name that does not tell the account', async t => {
  const { vault, keys } = await openVault(t)
  const key = ((await vault.create(ada)) as KeyObject).export()
  const [path = ''] = await keys()
  const stored = await readFile(path)
  t.match(path, /\/vault\/[0-9a-f]{32}\.key$/)
  t.equal(stored.byteLength, 60)
  t.notOk(stored.includes(key))
  const wrappingKey = createSecretKey(deriveKey('a secret', 'vault'))
  t.same(decrypt(wrappingKey, stored, ada), key)
})

t.test('a key that is missing is damage, and not taken for a destroyed one', async t => {
  const { vault, again, keys } = await openVault(t)
  await vault.create(ada)
  await rm((await keys())[0] ?? '')
  const missing = `the key of ${ada} is missing from vault/ in the object store, or was made with another MASTER_SECRET`
  const message = `${missing}; restore this folder from a backup`
  await t.rejects(again().key(ada), { name: 'Damaged', message })
  await t.rejects(again().key(bob), { name: 'Damaged' })
})

t.test('a key that was changed is damage, and so is one of another master secret', async t => {
  const { vault, again, keys } = await openVault(t)
  await vault.create(ada)
  const message = `the key of ${ada} in vault/ was changed; restore it from a backup`
  const [path = ''] = await keys()
  const stored = await readFile(path)
  for (const at of [0, 12, 59]) {
    const changed = Buffer.from(stored)
    changed[at] = (changed[at] ?? 0) ^ 1
    await writeFile(path, changed)
    await t.rejects(again().key(ada), { name: 'Damaged', message }, `byte ${at}`)
  }
  for (const length of [0, 12, 59]) {
    await writeFile(path, stored.subarray(0, length))
    await t.rejects(again().key(ada), { name: 'Damaged' }, `${length} bytes`)
  }
  await writeFile(path, stored)
  await t.resolves(again().key(ada))
  await t.rejects(again('another secret').key(ada), { name: 'Damaged', message: /made with another MASTER_SECRET/ })
})

t.test('the key of an account is not that of another', async t => {
  const { vault, again, keys } = await openVault(t)
  await vault.create(ada)
  const [adas = ''] = await keys()
  await vault.create(bob)
  const bobs = (await keys()).find(path => path !== adas) ?? ''
  await writeFile(bobs, await readFile(adas))
  await t.rejects(again().key(bob), { name: 'Damaged' })
})

t.test('a destroyed key is known to be destroyed, and its bytes are gone', async t => {
  const { vault, again, keys } = await openVault(t)
  await vault.create(ada)
  await vault.create(bob)
  const other = again()
  await other.destroy(ada)
  t.equal(other.known(ada), 'destroyed')
  t.equal(await again().key(ada), 'destroyed')
  t.equal(await again().create(ada), 'destroyed', 'it gets no other')
  const contents = await Promise.all((await keys()).map(path => readFile(path)))
  t.equal(contents.filter(bytes => bytes.equals(Buffer.alloc(60))).length, 1)
  await t.resolves(again().destroy(ada), 'it can be destroyed again')
  t.equal(await again().key(ada), 'destroyed')
  t.type(await again().key(bob), KeyObject)
})

t.test('an account without a key can have it destroyed', async t => {
  const { vault, again } = await openVault(t)
  await vault.destroy(ada)
  t.equal(await again().create(ada), 'destroyed')
})

t.test('a store that is down is no damage, and is asked again', async t => {
  const { store } = await openFolder(t)
  let isDown = true
  const down = async () => {
    throw new Unavailable('the object store is down', { part: 'objects' })
  }
  const vault = new Vault({
    objects: async () => (isDown ? { put: down, get: down, overwrite: down } : store),
    close: async () => undefined,
    masterSecret: 'a secret',
    random: systemRandom,
  })
  for (const ask of [() => vault.create(ada), () => vault.key(ada), () => vault.destroy(ada)]) {
    await t.rejects(async () => void (await ask()), Unavailable)
    t.equal(vault.known(ada), undefined)
  }
  isDown = false
  t.type(await vault.create(ada), KeyObject)
})
