import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import type { ObjectStore } from '../../src/ports/object-store.ts'

const NAME = '0123456789abcdef0123456789abcdef'

/** What every object store must do. */
export const objectStoreContract = (name: string, open: (t: Test) => Promise<ObjectStore>) =>
  t.test(`${name} is an object store`, async t => {
    t.test('an object comes back as it was put', async t => {
      const store = await open(t)
      const sizes = [0, 1, 100_000, 3_000_001]
      for (const [index, size] of sizes.entries()) {
        const bytes = Buffer.from(Array.from({ length: size }, (_, at) => (at * 31) % 256))
        await store.put(key(index), bytes)
        const found = await store.get(key(index))
        t.equal(found?.sizeBytes, size)
        t.ok(found && (await buffer(found.body)).equals(bytes), `${size} bytes`)
      }
    })

    t.test('an object that was never put is absent', async t => {
      const store = await open(t)
      t.equal(await store.get(key(1)), undefined)
      await store.put(key(1), Buffer.from('a'))
      t.equal(await store.get(key(2)), undefined)
      t.equal(await store.get(key(1, 'other')), undefined)
      t.equal(await store.get(key(1, 'outputs', 'jpeg')), undefined)
    })

    t.test('the same key again replaces the object', async t => {
      const store = await open(t)
      await store.put(key(1), Buffer.from('a longer first'))
      await store.put(key(1), Buffer.from('second'))
      t.equal(await textOf(store, key(1)), 'second')
    })

    t.test('many who put the same key at once leave one whole object', async t => {
      const store = await open(t)
      const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(50_000))
      await Promise.all(texts.map(text => store.put(key(1), Buffer.from(text))))
      t.ok(texts.includes((await textOf(store, key(1))) ?? ''))
    })

    t.test('a key is a folder and a random name, and nothing that leads elsewhere', async t => {
      const store = await open(t)
      const bad = [
        ...['', '.', '..', '/', 'outputs', 'outputs/', `outputs/${NAME}`, `${NAME}.png`, `/outputs/${NAME}.png`],
        ...[`../outputs/${NAME}.png`, `outputs/../../${NAME}.png`, `outputs/../${NAME}.png`, `outputs/./${NAME}.png`],
        ...[`outputs//${NAME}.png`, `outputs/a/${NAME}.png`, `outputs\\${NAME}.png`, `OUTPUTS/${NAME}.png`],
        ...[`outputs/${NAME}.png\u0000`, `outputs/${NAME}.png\n`, `outputs/${NAME}.`, `outputs/${NAME}..png`],
        ...[`outputs/${NAME.toUpperCase()}.png`, `outputs/${NAME}0.png`, `outputs/%2e%2e/${NAME}.png`],
      ]
      for (const text of bad) {
        await t.rejects(store.put(text, Buffer.from('a')), RangeError, JSON.stringify(text))
        t.equal(await store.get(text), undefined)
      }
    })

    t.test('it says that it answers', async t => {
      const store = await open(t)
      await t.resolves(store.check())
    })
  })

const key = (number: number, folder = 'outputs', ending = 'png') =>
  `${folder}/${number.toString(16).padStart(32, '0')}.${ending}`

const textOf = async (store: ObjectStore, key: string) => {
  const found = await store.get(key)
  return found && (await buffer(found.body)).toString()
}
