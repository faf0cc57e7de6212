import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { LargeFiles, MIN_LARGE_BYTES } from '../../../src/adapters/provider/large-files.ts'
import { DATA_URL_PLACE } from '../../../src/adapters/provider/output-file.ts'
import { isLong } from '../../support/test-length.ts'

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

/** An answer that arrives in pieces of these lengths, cut anywhere. */
const answerOf = (text: string, lengths: number[]): Response => {
  const bytes = Buffer.from(text)
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull: controller => {
      if (at >= bytes.length) return controller.close()
      const length = lengths.shift() ?? bytes.length
      controller.enqueue(Uint8Array.from(bytes.subarray(at, at + length)))
      at += length
    },
  })
  return new Response(body, { headers: { 'content-type': 'application/json' } })
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
  const lengths = fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 30 })
  let found = 0
  const property = fc.asyncProperty(
    fc.array(field, { maxLength: 5 }),
    lengths,
    fc.constantFrom(FIELD, DATA_URL_PLACE),
    async (fields, lengths, place) => {
      const texts = fields.map(({ text }) => textOf(text))
      const items = fields.map(({ name, escapes }, index) => [
        JSON.stringify(name),
        written(texts[index] ?? '', escapes),
      ])
      const document = `{"first":[${items.map(([name, value]) => `{${name} : ${value}}`).join(', ')}],"é":"\\"","n":12}`
      // Longer ones may be refused for what is left of them.
      fc.pre(document.length < 4_000_000)
      const files = new LargeFiles(place)
      const answer = JSON.parse(await (await files.extract(answerOf(document, [...lengths]))).text())
      const original = JSON.parse(document)
      for (const [index, { name }] of fields.entries()) {
        const [text = '', read = ''] = [texts[index], answer.first[index][name]]
        const prefix = prefixOf(name, text, place)
        if (read === text) {
          assert(prefix === undefined || !isLargeBase64(text.slice(prefix.length)), 'a file was kept')
          continue
        }
        found++
        assert(prefix !== undefined && read.startsWith(prefix) && read.length < 100, 'a text was changed')
        assert(/^[\w+/-]+={0,2}$/.test(text.slice(prefix.length)), 'this is no Base64')
        const bytes = Buffer.from(files.fromBase64(read))
        assert(bytes.equals(Buffer.from(text.slice(prefix.length), 'base64')), 'a file was changed')
        answer.first[index][name] = text
      }
      assert(JSON.stringify(answer) === JSON.stringify(original), 'the rest was changed')
    },
  )
  await t.resolves(fc.assert(property, { numRuns: isLong ? 60 : 15 }))
  t.ok(found > 0)
})

const picture = Buffer.alloc(1_000_000, 'picture')
const answerWith = (data: string) => answerOf(JSON.stringify({ data }), [])

const readData = async (files: LargeFiles, data: string): Promise<string> =>
  JSON.parse(await (await files.extract(answerWith(data))).text()).data

t.test('a name that a vendor has seen names nothing in another call', async t => {
  const [one, other] = [new LargeFiles(FIELD), new LargeFiles(FIELD)]
  const name = await readData(one, picture.toString('base64'))
  const forged = await readData(other, name)
  t.equal(forged, name)
  t.same(other.fromBase64(forged), Buffer.from(name, 'base64'))
  t.not(await readData(one, picture.toString('base64')), name)
})

t.test('an answer that is short or a file is passed on, and one of a call without files keeps its text', async t => {
  const data = JSON.stringify({ data: picture.toString('base64') })
  const json = { 'content-type': 'application/json' }
  for (const answer of [
    new Response('{}', { headers: { ...json, 'content-length': '2' } }),
    new Response(data, { headers: { 'content-type': 'image/png' } }),
  ])
    t.ok((await new LargeFiles(FIELD).extract(answer)) === answer)
  t.ok((await (await new LargeFiles().extract(new Response(data, { headers: json }))).text()) === data)
})

t.test('an answer that would take long to parse is refused, whatever its type', async t => {
  const brackets = '['.repeat(250_000)
  const numbers = `[${'1,'.repeat(250_000)}1]`
  const textOfBrackets = JSON.stringify({ text: `\\"${brackets}\\` })
  const withFile = (rest: string) => `{"data":"${'A'.repeat(8_000_000)}","rest":"${rest}"}`
  for (const type of ['application/json', 'text/html', '']) {
    const extract = (text: string) =>
      new LargeFiles(FIELD).extract(new Response(text, { headers: { 'content-type': type } }))
    await t.rejects(extract(brackets), /more than 200000 values/)
    await t.rejects(extract(numbers), /more than 200000 values/)
    await t.rejects(extract(JSON.stringify('x'.repeat(5_000_000))), /besides its files/)
    await t.rejects(extract(withFile('x'.repeat(5_000_000))), /besides its files/)
    t.ok((await (await extract(textOfBrackets)).text()) === textOfBrackets)
    t.match(JSON.parse(await (await extract(withFile('x'))).text()), { rest: 'x' })
  }
})

t.test('an answer keeps its status and headers, except for its length', async t => {
  const body = JSON.stringify({ data: picture.toString('base64') })
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length), 'x-request-id': 'r' }
  const answer = await new LargeFiles(FIELD).extract(new Response(body, { status: 201, headers }))
  t.equal(answer.status, 201)
  t.equal(answer.headers.get('x-request-id'), 'r')
  t.equal(answer.headers.get('content-length'), String((await answer.text()).length))
})

t.test('an answer that breaks off is an error', async t => {
  const pieces = [picture]
  const body = new ReadableStream({
    pull: controller => {
      const piece = pieces.shift()
      if (piece) controller.enqueue(piece)
      else controller.error(new Error('cut off'))
    },
  })
  const answer = new Response(body, { headers: { 'content-type': 'application/json' } })
  await t.rejects(new LargeFiles(FIELD).extract(answer), { message: 'cut off' })
})

t.test('a request has the files in place of their names', async t => {
  const property = fc.asyncProperty(
    fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 500_000 })), { maxLength: 4 }),
    async parts => {
      const files = new LargeFiles()
      const contents = parts.map(([words, length]) => ({ words, bytes: Buffer.alloc(length, 'π') }))
      const text = JSON.stringify(contents.map(({ words, bytes }) => [words, files.toBase64(bytes)]))
      assert(text.length < 400_000)
      const { body = [Buffer.from(text)], sizeBytes } = files.insert(text) ?? {}
      const sent: Uint8Array[] = []
      for await (const piece of body) sent.push(piece)
      const written = Buffer.concat(sent)
      assert.equal(sizeBytes ?? written.length, written.length)
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
  const files = new LargeFiles(FIELD)
  const name = files.toBase64(picture)
  const send = async () => {
    for await (const _ of files.insert(name)?.body ?? []);
  }
  t.ok((await turnsDuring(readData(files, base64))) > base64.length / sliceBytes, 'one answer')
  const answers = [1, 2, 3].map(() => readData(files, base64))
  t.ok((await turnsDuring(Promise.all(answers))) > (3 * base64.length) / sliceBytes, 'several answers')
  const requests = [1, 2, 3].map(send)
  t.ok((await turnsDuring(Promise.all(requests))) >= (3 * picture.length) / sliceBytes, 'several requests')
})
