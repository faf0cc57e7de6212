import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import t from 'tap'
import { LargeFiles } from '../../../src/adapters/provider/large-files.ts'
import { DATA_URL_PLACE } from '../../../src/adapters/provider/output-file.ts'
import { MIN_LARGE_BYTES } from '../../../src/json/long-document.ts'
import type { OpenFile } from '../../../src/ports/provider.ts'
import { isLong } from '../../support/test-length.ts'
import { bytesOf, openFile } from '../../support/vendors/arriving-file.ts'

const FIELD = /"data"\s*:\s*"$/
const PNG = 'data:image/png;base64,'

/** More than three of the slices in which Base64 is decoded. */
const MAX_LENGTH = 700_000

const SHARED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const [STANDARD, URL_SAFE] = [`${SHARED}+/`, `${SHARED}-_`]

/** A text by few numbers, so that a failure can be shown. */
const text = fc.record({
  prefix: fc.constantFrom('', '', PNG, 'data:;charset=é;base64,', `see "${PNG}`, 'data:x,'),
  alphabet: fc.constantFrom(STANDARD, URL_SAFE, '+/'),
  length: fc.oneof(
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 9 }) },
    { weight: 4, arbitrary: fc.integer({ min: 65_000, max: MAX_LENGTH }) },
  ),
  padding: fc.constantFrom('', '=', '=='),
  /** Something that is not Base64, and how far into the text it is. */
  stain: fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom(' ', '\n', '"', '\\', '\\"', 'é', '𝄞', '=A', '!', '\u0000') },
  ),
  depth: fc.constantFrom(0, 0.3, 0.7, 1),
})
type Text = typeof text extends fc.Arbitrary<infer Each> ? Each : never

const textOf = ({ prefix, alphabet, length, padding, stain, depth }: Text): string => {
  let random = length
  const characters = Uint8Array.from({ length }, () => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) | 0
    return alphabet.charCodeAt(((random >>> 16) & 0xfff) % alphabet.length)
  })
  const base64 = Buffer.from(characters).toString('latin1') + padding
  const at = Math.floor(base64.length * depth)
  return prefix + base64.slice(0, at) + stain + base64.slice(at)
}

/** JSON as vendors may write it: with some characters escaped that need not be. */
const written = (text: string, escapes: Escapes): string =>
  JSON.stringify(text).replaceAll(/[/+=]/g, (character, at: number) => {
    if (at % escapes.every !== 0) return character
    if (character === '/' && escapes.isShort) return '\\/'
    return `\\u00${character.charCodeAt(0).toString(16)}`
  })

interface Escapes {
  every: number
  isShort: boolean
}

const field = fc.record({
  name: fc.constantFrom('data', 'data', 'data', 'text', 'metadata', '\\'),
  text,
  escapes: fc.record({ every: fc.constantFrom(1, 2, 1e9), isShort: fc.boolean() }),
})

/** A field with a file. Few random fields may all hold none. */
const fileField = {
  name: 'data',
  text: { prefix: '', alphabet: STANDARD, length: 100_000, padding: '', stain: '', depth: 0 },
  escapes: { every: 1e9, isShort: false },
}

interface Arrival {
  type?: string
  pieceBytes?: number
}

/** Reads an answer that arrives in pieces. */
const read = async (
  files: LargeFiles,
  text: string,
  { type = 'application/json', pieceBytes = 65_536 }: Arrival = {},
): Promise<Buffer> => {
  const body = files.read({ 'content-type': type })
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) await body.write(bytes.subarray(at, at + pieceBytes))
  return body.end()
}

/** What is before the Base64 of a file in a field. */
const prefixOf = (name: string, text: string, place: RegExp): string | undefined => {
  const scheme = /^data:[^,]*;base64,/.exec(text)?.[0]
  if (place === DATA_URL_PLACE) return scheme
  return name === 'data' ? (scheme ?? '') : undefined
}

const isLargeBase64 = (text: string) =>
  text.length > MIN_LARGE_BYTES && /^[\w+/-]+={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1

t.test('a client reads a short document, and finds the same text and bytes', async t => {
  let replaced = 0
  const property = fc.asyncProperty(
    fc.array(field, { maxLength: 5 }),
    fc.constantFrom(FIELD, DATA_URL_PLACE),
    fc.oneof(fc.integer({ min: 1000, max: 300_000 }), fc.constantFrom(65_536, 196_608)),
    async (fields, place, pieceBytes) => {
      const texts = fields.map(({ text }) => textOf(text))
      const items = fields.map(({ name, escapes }, index) => [
        JSON.stringify(name),
        written(texts[index] ?? '', escapes),
      ])
      const document = `{"first":[${items.map(([name, value]) => `{${name} : ${value}}`).join(', ')}],"é":"\\"","n":12}`
      // Longer ones may be refused for what is left of them.
      fc.pre(document.length < 4_000_000)
      const files = new LargeFiles(openFile, place)
      const answer = JSON.parse((await read(files, document, { pieceBytes })).toString())
      const original = JSON.parse(document)
      for (const [index, { name }] of fields.entries()) {
        const [text = '', found = ''] = [texts[index], answer.first[index][name]]
        const prefix = prefixOf(name, text, place)
        if (found === text) {
          assert(prefix === undefined || !isLargeBase64(text.slice(prefix.length)), 'a file was kept')
          continue
        }
        replaced++
        assert(prefix !== undefined && found.startsWith(prefix) && found.length < 100, 'a text was changed')
        assert(/^[\w+/-]+={0,2}$/.test(text.slice(prefix.length)), 'this is no Base64')
        const bytes = bytesOf(files.fromBase64(found))
        assert(bytes.equals(Buffer.from(text.slice(prefix.length), 'base64')), 'a file was changed')
        answer.first[index][name] = text
      }
      assert(JSON.stringify(answer) === JSON.stringify(original), 'the rest was changed')
    },
  )
  await t.resolves(fc.assert(property, { numRuns: isLong ? 60 : 15, examples: [[[fileField], FIELD, 65_536]] }))
  t.ok(replaced > 0)
})

const openNothing: OpenFile = () => ({ write: async () => undefined, end: async () => undefined })

const picture = Buffer.alloc(1_000_000, 'picture')

const readData = async (files: LargeFiles, data: string): Promise<string> =>
  JSON.parse((await read(files, JSON.stringify({ data }))).toString()).data

t.test('a name that a vendor has seen names nothing in another call', async t => {
  const [one, other] = [new LargeFiles(openFile, FIELD), new LargeFiles(openFile, FIELD)]
  const name = await readData(one, picture.toString('base64'))
  const forged = await readData(other, name)
  t.equal(forged, name)
  t.same(bytesOf(other.fromBase64(forged)), Buffer.from(name, 'base64'))
  t.not(await readData(one, picture.toString('base64')), name)
})

t.test('an answer of a call without files keeps its text', async t => {
  const data = JSON.stringify({ data: picture.toString('base64') })
  t.equal((await read(new LargeFiles(), data)).toString(), data)
})

t.test('an answer is a file if that was asked for, unless it is a text', async t => {
  const text = 'x'.repeat(1_000_000)
  for (const type of ['audio/mpeg', 'image/png', 'application/octet-stream', 'unknown']) {
    const files = new LargeFiles(openFile)
    const body = await read(files, text, { type })
    t.equal(body.length, 32)
    t.ok(bytesOf(files.fromBody(body)).equals(Buffer.from(text)), type)
    t.same(bytesOf(new LargeFiles(openFile).fromBody(body)), body, 'in another call, its name is only bytes')
  }
  for (const type of ['text/html', 'application/json'])
    t.equal((await read(new LargeFiles(openFile), text, { type })).toString(), text, type)
})

t.test('an answer that would take long to parse is refused, whatever its type', async t => {
  const brackets = '['.repeat(250_000)
  const numbers = `[${'1,'.repeat(250_000)}1]`
  const textOfBrackets = JSON.stringify({ text: `\\"${brackets}\\` })
  const withFile = (rest: string) => `{"data":"${'A'.repeat(8_000_000)}","rest":"${rest}"}`
  for (const type of ['application/json', 'text/html', '']) {
    const extract = async (text: string) => (await read(new LargeFiles(openFile, FIELD), text, { type })).toString()
    await t.rejects(extract(brackets), /more than 200000 values/)
    await t.rejects(extract(numbers), /more than 200000 values/)
    await t.rejects(extract(JSON.stringify('x'.repeat(5_000_000))), /besides its files/)
    await t.rejects(extract(withFile('x'.repeat(5_000_000))), /besides its files/)
    t.ok((await extract(textOfBrackets)) === textOfBrackets)
    t.match(JSON.parse(await extract(withFile('x'))), { rest: 'x' })
  }
})

t.test('an answer takes little memory while its files arrive, whatever they turn out to be', async t => {
  const limit = 7_000_000
  const piece = Buffer.from('A'.repeat(65_536))
  const begin = () => new LargeFiles(openNothing, FIELD).read({})
  const send = async (body: ReturnType<typeof begin>, bytes: number) => {
    for (let sent = 0; sent < bytes; sent += piece.length) {
      await body.write(piece)
      if (body.heldBytes > limit) throw new Error(`${body.heldBytes} bytes are held`)
    }
  }
  const file = begin()
  await file.write(Buffer.from('{"data":"'))
  await send(file, 50_000_000)
  t.ok(file.heldBytes < 2_000_000, 'the text of a long file is not kept')
  await file.write(Buffer.from('"}'))
  t.equal((await file.end()).length, '{"data":""}'.length + 32)
  const cutOff = begin()
  await cutOff.write(Buffer.from('{"data":"'))
  await send(cutOff, 50_000_000)
  await t.rejects(cutOff.end(), /besides its files/)
  const text = begin()
  await text.write(Buffer.from('{"text":"'))
  await t.rejects(send(text, 50_000_000), /besides its files/)
})

t.test('a request has the files in place of their names', async t => {
  const property = fc.asyncProperty(
    fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 500_000 })), { maxLength: 4 }),
    async parts => {
      const files = new LargeFiles()
      const contents = parts.map(([words, length]) => ({ words, bytes: Buffer.alloc(length, 'π') }))
      const text = JSON.stringify(contents.map(({ words, bytes }) => [words, files.toBase64(bytes)]))
      assert(text.length < 400_000)
      const { headers, body = '' } = files.insert({ headers: {}, body: text })
      const written = await buffer(Readable.from(body))
      assert.equal(Number(headers['content-length'] ?? written.length), written.length)
      assert.deepEqual(
        JSON.parse(written.toString()),
        contents.map(({ words, bytes }) => [words, bytes.toString('base64')]),
      )
    },
  )
  await t.resolves(fc.assert(property, { numRuns: 20 }))
})

/** The turns of the event loop in which others may work until `work` ends. */
const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
  let isOver = false
  void work.then(() => {
    isOver = true
  })
  let turns = 0
  for (; !isOver; turns++) await new Promise(setImmediate)
  return turns
}

t.test('other work has its turns, however many files there are at once', async t => {
  const sliceBytes = 200_000
  const base64 = Buffer.alloc(4_000_000, 'picture').toString('base64')
  const files = new LargeFiles(openFile, FIELD)
  const name = files.toBase64(picture)
  const send = async () => {
    for await (const _ of files.insert({ headers: {}, body: name }).body ?? []);
  }
  t.ok((await turnsDuring(readData(files, base64))) > base64.length / sliceBytes, 'one answer')
  const answers = [1, 2, 3].map(() => readData(files, base64))
  t.ok((await turnsDuring(Promise.all(answers))) > (3 * base64.length) / sliceBytes, 'several answers')
  const requests = [1, 2, 3].map(send)
  t.ok((await turnsDuring(Promise.all(requests))) >= (3 * picture.length) / sliceBytes, 'several requests')
})
