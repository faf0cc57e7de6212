import { createDecipheriv, createSecretKey } from 'node:crypto'
import t from 'tap'
import { systemRandom } from '../../../src/adapters/random/system.ts'
import { decrypt, encrypt, KEY_BYTES, OVERHEAD_BYTES } from '../../../src/services/vault/cipher.ts'

const key = createSecretKey(Buffer.alloc(KEY_BYTES, 7))
const text = Buffer.from('Лодка на озере')

t.test('a text is encrypted with AES-256-GCM, as the page on the ledger format says', async t => {
  const encrypted = encrypt(key, text, 'the event', systemRandom)
  t.equal(encrypted.byteLength, 12 + text.byteLength + 16)
  t.equal(OVERHEAD_BYTES, 12 + 16)
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(0, 12))
  decipher.setAAD(Buffer.from('the event')).setAuthTag(encrypted.subarray(-16))
  t.same(Buffer.concat([decipher.update(encrypted.subarray(12, -16)), decipher.final()]), text)
  t.same(decrypt(key, encrypted, 'the event'), text)
})

t.test('equal texts are not encrypted alike', async t => {
  const [one, other] = [1, 2].map(() => encrypt(key, text, 'the event', systemRandom))
  t.notSame(one, other)
})

t.test('with another key, context or text, nothing is decrypted', async t => {
  const encrypted = encrypt(key, text, 'the event', systemRandom)
  t.equal(decrypt(createSecretKey(Buffer.alloc(KEY_BYTES, 8)), encrypted, 'the event'), undefined)
  t.equal(decrypt(key, encrypted, 'another event'), undefined)
  for (let index = 0; index < encrypted.byteLength; index++) {
    const flipped = Buffer.from(encrypted)
    flipped[index] = (flipped[index] ?? 0) ^ 1
    t.equal(decrypt(key, flipped, 'the event'), undefined, `byte ${index}`)
    t.equal(decrypt(key, encrypted.subarray(0, index), 'the event'), undefined, `only ${index} bytes`)
  }
})
