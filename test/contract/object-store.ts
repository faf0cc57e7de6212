import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished, pipeline } from 'node:stream/promises'
import root, { type Test } from 'tap'
import type { ObjectStore } from '../../src/ports/object-store.ts'
import { presignedPutContract } from './presigned-puts.ts'

const PNG = 'image/png'

/** A store, and a way to list the remains of objects that were never stored. */
export interface OpenedStore {
  store: ObjectStore
  leftovers(): Promise<string[]>
  /** Sends a request to a presigned URL, and returns the status. By default, over HTTP. */
  send?(url: string, request: { method: string; body?: string; contentType?: string }): Promise<number>
}

/** The contract of all object stores. */
export const objectStoreContract = (name: string, open: (t: Test) => Promise<OpenedStore>, parent: Test = root) =>
  parent.test(`${name} is an object store`, async t => {
    t.test('an object is read back unchanged', async t => {
      const { store } = await open(t)
      const sizes = [0, 1, 100_000, 3_000_001]
      for (const [index, size] of sizes.entries()) {
        const bytes = Buffer.from(Array.from({ length: size }, (_, at) => (at * 31) % 256))
        await store.put(key(index), bytes, PNG)
        const found = await store.get(key(index))
        t.equal(found?.sizeBytes, size)
        t.ok(found && (await buffer(found.body)).equals(bytes), `${size} bytes`)
      }
    })

    t.test('a missing object is undefined', async t => {
      const { store } = await open(t)
      t.equal(await store.get(key(1)), undefined)
      t.equal(await store.stat(key(1)), undefined)
      await store.put(key(1), Buffer.from('a'), PNG)
      for (const other of [key(2), key(1, 'other'), key(1, 'outputs', 'jpeg')]) {
        t.equal(await store.get(other), undefined)
        t.equal(await store.get(other, { start: 0, end: 0 }), undefined)
        t.equal(await store.stat(other), undefined)
      }
    })

    t.test('storing the same key again replaces the object', async t => {
      const { store } = await open(t)
      await store.put(key(1), Buffer.from('a longer first'), PNG)
      await store.put(key(1), Buffer.from('second'), PNG)
      t.equal(await textOf(store, key(1)), 'second')
    })

    t.test('an object is written over, with more or fewer bytes, or is new', async t => {
      const { store, leftovers } = await open(t)
      const large = 'second'.repeat(100_000)
      await store.put(key(1), Buffer.from('first'), PNG)
      for (const text of ['other', large, 'short', '', 'again', 'again']) {
        const before = await store.stat(key(1))
        await store.overwrite(key(1), Buffer.from(text))
        t.ok((await textOf(store, key(1))) === text, `${text.length} bytes`)
        const after = await store.stat(key(1))
        t.equal(after?.sizeBytes, text.length)
        if (after?.sizeBytes !== before?.sizeBytes) t.not(after?.etag, before?.etag)
      }
      await store.overwrite(key(2), Buffer.from('new'))
      t.equal(await textOf(store, key(2)), 'new')
      t.equal(await store.put(key(2), Buffer.from('another'), PNG, { ifAbsent: true }), false)
      t.equal(await textOf(store, key(2)), 'new')
      t.same(await leftovers(), [])
    })

    t.test('an object is stored only where there is none, if asked to', async t => {
      const { store, leftovers } = await open(t)
      const large = Buffer.alloc(3_000_000, 'second')
      const streamed = async (number: number, bytes: Buffer) => {
        const incoming = await store.receive()
        incoming.body.end(bytes)
        return incoming.store(key(number), PNG, { ifAbsent: true })
      }
      t.equal(await store.put(key(1), Buffer.from('first'), PNG, { ifAbsent: true }), true)
      t.equal(await streamed(2, Buffer.from('first')), true)
      for (const number of [1, 2]) {
        const before = await store.stat(key(number))
        for (const bytes of [Buffer.from('second'), large]) {
          t.equal(await store.put(key(number), bytes, PNG, { ifAbsent: true }), false)
          t.equal(await streamed(number, bytes), false)
        }
        t.same(await store.stat(key(number)), before)
        t.equal(await textOf(store, key(number)), 'first')
      }
      t.same(await leftovers(), [])
      t.equal(await store.put(key(1), Buffer.from('third'), PNG), true, 'and otherwise replaces it')
      t.equal(await textOf(store, key(1)), 'third')
    })

    t.test('of concurrent objects for an absent key exactly one is stored', async t => {
      const { store, leftovers } = await open(t)
      const texts = Array.from({ length: 20 }, (_, index) => String(index % 10).repeat(50_000 + index))
      const outcomes = await Promise.all(
        texts.map(async (text, index) => {
          if (index % 2 === 0) return store.put(key(1), Buffer.from(text), PNG, { ifAbsent: true })
          const incoming = await store.receive()
          incoming.body.end(text)
          return incoming.store(key(1), PNG, { ifAbsent: true })
        }),
      )
      t.equal(outcomes.filter(Boolean).length, 1)
      t.ok((await textOf(store, key(1))) === texts[outcomes.indexOf(true)])
      t.same(await leftovers(), [])
    })

    t.test('concurrent puts of the same key leave one complete object', async t => {
      const { store } = await open(t)
      const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(50_000))
      await Promise.all(texts.map(text => store.put(key(1), Buffer.from(text), PNG)))
      t.ok(texts.includes((await textOf(store, key(1))) ?? ''))
    })

    t.test('a range returns only that part of an object', async t => {
      const { store } = await open(t)
      await store.put(key(1), Buffer.from('0123456789'), PNG)
      const part = async (start: number, end: number) => {
        const found = await store.get(key(1), { start, end })
        return [found?.sizeBytes, found && (await buffer(found.body)).toString()]
      }
      t.same(await part(0, 0), [10, '0'], 'the first byte')
      t.same(await part(9, 9), [10, '9'], 'the last byte')
      t.same(await part(3, 6), [10, '3456'])
      t.same(await part(0, 9), [10, '0123456789'], 'all bytes')
      t.same(await part(7, 1000), [10, '789'], 'an end past the last byte is clamped')
    })

    t.test('a range outside of the object is refused', async t => {
      const { store } = await open(t)
      await store.put(key(1), Buffer.from('0123456789'), PNG)
      await store.put(key(2), Buffer.from(''), PNG)
      const bad = [...[10, 1000].map(start => [start, 2000]), [5, 4], [-1, 3], [0.5, 3], [0, Number.NaN]]
      for (const [start = 0, end = 0] of bad) await t.rejects(store.get(key(1), { start, end }), RangeError)
      await t.rejects(store.get(key(2), { start: 0, end: 0 }), RangeError, 'an empty object has no bytes')
      await t.rejects(store.get(key(3), { start: 5, end: 4 }), RangeError, 'a missing object has no bytes')
    })

    t.test('an object’s facts are the same from all methods, and change with its bytes', async t => {
      const { store } = await open(t)
      const facts = async () => {
        const [whole, part] = [await store.get(key(1)), await store.get(key(1), { start: 1, end: 2 })]
        const stat = await store.stat(key(1))
        for (const found of [whole, part]) {
          const { body, ...facts } = found ?? {}
          body?.destroy()
          t.same(facts, stat)
        }
        return stat
      }
      await store.put(key(1), Buffer.from('first'), PNG)
      const first = await facts()
      t.equal(first?.sizeBytes, 5)
      t.match(first?.etag, /^"[^"]+"$/)
      t.same(await facts(), first)
      await store.put(key(1), Buffer.from('other'), PNG)
      t.not((await facts())?.etag, first?.etag)
    })

    t.test('a delete removes only that object', async t => {
      const { store } = await open(t)
      await store.put(key(1), Buffer.from('a'), PNG)
      await store.put(key(2), Buffer.from('b'), PNG)
      await store.delete(key(1))
      t.equal(await store.get(key(1)), undefined)
      t.equal(await store.stat(key(1)), undefined)
      t.equal(await textOf(store, key(2)), 'b')
      await t.resolves(store.delete(key(1)), 'deleting a missing object succeeds')
      await t.resolves(store.delete(key(1, 'other')), 'so does another name beside it')
      await store.put(key(1), Buffer.from('again'), PNG)
      t.equal(await textOf(store, key(1)), 'again')
    })

    t.test('objects are deleted together, whether they exist or not', async t => {
      const { store } = await open(t)
      for (const number of [1, 2, 3]) await store.put(key(number), Buffer.from('a'), PNG)
      await store.put(key(1, 'uploads'), Buffer.from('a'), PNG)
      const absent = Array.from({ length: 300 }, (_, index) => key(1000 + index, index % 2 ? 'outputs' : 'other'))
      await store.deleteAll([key(1), ...absent, key(1, 'uploads'), key(3)])
      const left = await Promise.all([1, 2, 3].map(async number => (await store.stat(key(number))) !== undefined))
      t.same([...left, await store.stat(key(1, 'uploads'))], [false, true, false, undefined])
      await t.resolves(store.deleteAll([]))
      await t.rejects(store.deleteAll([key(2), '../escape.png']), RangeError)
      await t.rejects(store.deleteAll(Array.from({ length: 1001 }, () => key(2))), RangeError)
      t.ok(await store.stat(key(2)), 'keys are checked before anything is deleted')
    })

    t.test('a key is a folder and a random name, and cannot escape the store', async t => {
      const { store, leftovers } = await open(t)
      for (const text of badKeys) {
        const name = JSON.stringify(text)
        const grant = { key: text, mimeType: PNG, maxSizeBytes: 1, expiresAtMs: Date.now() + 60_000, purpose: '' }
        await t.rejects(store.put(text, Buffer.from('a'), PNG), RangeError, name)
        await t.rejects(store.overwrite(text, Buffer.from('a')), RangeError, name)
        await t.rejects(store.delete(text), RangeError, name)
        await t.rejects(store.presignPut(grant), RangeError, name)
        const incoming = await store.receive()
        incoming.body.end('a')
        await t.rejects(incoming.store(text, PNG), RangeError, name)
        t.equal(await store.get(text), undefined)
        t.equal(await store.stat(text), undefined)
      }
      t.same(await leftovers(), [])
    })

    t.test('a streamed object becomes visible only when it is stored', async t => {
      const { store, leftovers } = await open(t)
      const incoming = await store.receive()
      incoming.body.write('one ')
      incoming.body.end('two')
      await finished(incoming.body)
      t.equal(await store.stat(key(1)), undefined)
      await incoming.store(key(1), PNG)
      t.equal(await textOf(store, key(1)), 'one two')
      t.same(await leftovers(), [])
    })

    t.test('a streamed object may be empty', async t => {
      const { store } = await open(t)
      const incoming = await store.receive()
      incoming.body.end()
      await incoming.store(key(1), PNG)
      t.equal((await store.stat(key(1)))?.sizeBytes, 0)
    })

    t.test('many objects can be streamed at once', async t => {
      const { store, leftovers } = await open(t)
      const objects = Array.from({ length: 30 }, (_, index) => randomBytes(index * 20_000))
      await Promise.all(
        objects.map(async (bytes, index) => {
          const incoming = await store.receive()
          await pipeline(Readable.from(slices(bytes, 7_001)), incoming.body)
          await incoming.store(key(index), PNG)
        }),
      )
      for (const [index, bytes] of objects.entries()) {
        const found = await store.get(key(index))
        t.ok(found && (await buffer(found.body)).equals(bytes), `${bytes.byteLength} bytes`)
      }
      t.same(await leftovers(), [])
    })

    t.test('a discarded object leaves no trace', async t => {
      const { store, leftovers } = await open(t)
      const begin = async () => {
        const incoming = await store.receive()
        incoming.body.on('error', () => undefined)
        return incoming
      }
      const atOnce = await begin()
      await atOnce.discard()

      const written = await begin()
      written.body.write('a')
      await written.discard()

      const underWay = await begin()
      for (let count = 0; count < 50; count++) underWay.body.write(randomBytes(100_000))
      await underWay.discard()

      const ended = await begin()
      ended.body.end('a')
      await finished(ended.body)
      await ended.discard()

      const broken = await begin()
      const source = Readable.from(slices(randomBytes(500_000), 1_000))
      const outcome = pipeline(source, broken.body)
      source.destroy(new Error('the client went away'))
      await t.rejects(outcome)
      await broken.discard()
      await t.resolves(broken.discard(), 'even twice')

      t.same(await leftovers(), [])
    })

    t.test('an object with an aborted body is not stored', async t => {
      const { store, leftovers } = await open(t)
      const incoming = await store.receive()
      incoming.body.on('error', () => undefined)
      incoming.body.write('the first half')
      incoming.body.destroy(new Error('the client went away'))
      await t.rejects(incoming.store(key(1), PNG))
      t.equal(await store.stat(key(1)), undefined)
      t.same(await leftovers(), [])
    })

    t.test('incomplete objects leave no trace when the store is closed', async t => {
      const { store, leftovers } = await open(t)
      const [part, whole] = [await store.receive(), await store.receive()]
      part.body.write('a part')
      whole.body.end('all of it')
      t.equal((await leftovers()).length, 2)
      await store.close()
      t.same(await leftovers(), [])
    })

    presignedPutContract(t, open)

    t.test('check resolves while the store is available', async t => {
      const { store } = await open(t)
      await t.resolves(store.check())
    })
  })

export const key = (number: number, folder = 'outputs', ending = 'png') =>
  `${folder}/${number.toString(16).padStart(32, '0')}.${ending}`

export const textOf = async (store: ObjectStore, key: string) => {
  const found = await store.get(key)
  return found && (await buffer(found.body)).toString()
}

const NAME = '0123456789abcdef0123456789abcdef'

const badKeys = [
  ...['', '.', '..', '/', 'outputs', 'outputs/', `outputs/${NAME}`, `${NAME}.png`, `/outputs/${NAME}.png`],
  ...[`../outputs/${NAME}.png`, `outputs/../../${NAME}.png`, `outputs/../${NAME}.png`, `outputs/./${NAME}.png`],
  ...[`outputs//${NAME}.png`, `outputs/a/${NAME}.png`, `outputs\\${NAME}.png`, `OUTPUTS/${NAME}.png`],
  ...[`outputs/${NAME}.png\u0000`, `outputs/${NAME}.png\n`, `outputs/${NAME}.`, `outputs/${NAME}..png`],
  ...[`outputs/${NAME.toUpperCase()}.png`, `outputs/${NAME}0.png`, `outputs/%2e%2e/${NAME}.png`],
]

function* slices(bytes: Buffer, size: number) {
  for (let start = 0; start < bytes.byteLength; start += size) yield bytes.subarray(start, start + size)
}
