import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import type { RunRequest } from '../../schemas/api/run.ts'
import { sha256 } from '../../src/domain/digest.ts'
import { readAttached } from '../../src/http/bodies/attachments.ts'
import { type Attachment, attachedImages, withAddresses, withTexts } from '../../src/services/runs/attachments.ts'
import { isLong } from '../support/test-length.ts'

const read = (body: string, pieceBytes = body.length) => {
  const bytes = Buffer.from(body)
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  )
  return readAttached(Readable.from(pieces) as IncomingMessage)
}

const base64Of = (sizeBytes: number, seed = 7) =>
  Buffer.from(Uint8Array.from({ length: sizeBytes }, (_, at) => (at * seed) >> 3)).toString('base64')

const large = `data:image/png;base64,${base64Of(70_000)}`
const digest = sha256(Buffer.from(base64Of(70_000), 'base64'))
const named = `data:image/png;base64,${digest}`

const inputOf = (url: string) => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
})

t.test('a large file leaves its digest, and arrives in pieces', async t => {
  for (const pieceBytes of [1_000, 65_536, 1_000_000]) {
    const { document, attachments } = await read(JSON.stringify({ input: inputOf(large) }), pieceBytes)
    t.same(JSON.parse(document.toString()), { input: inputOf(named) })
    const { pieces, inspected } = attachments.get(digest) as Attachment
    t.equal(Buffer.concat(pieces).toString('base64'), base64Of(70_000))
    t.match(inspected, { sizeBytes: 70_000, sha256: digest })
  }
})

t.test('escapes, which some clients write, change nothing', async t => {
  const escaped = JSON.stringify({ input: inputOf(large) }).replaceAll('/', '\\/')
  const { document, attachments } = await read(escaped)
  t.same(JSON.parse(document.toString()), { input: inputOf(named) })
  t.ok(attachments.has(digest))
})

t.test('only URLs of images that hold Base64 are files', async t => {
  for (const body of [
    { text: large },
    { url: large.slice(0, 60_000) },
    { url: `${large}!` },
    { url: large.replace(/.{76}/g, '$&\n') },
    { url: large.replace(';base64', '') },
    { [large]: 'url' },
    { content: JSON.stringify({ url: large }) },
    { content: `"url":"${large}` },
    { url: [large] },
  ]) {
    const { document, attachments } = await read(JSON.stringify(body))
    t.equal(document.toString(), JSON.stringify(body))
    t.equal(attachments.size, 0)
  }
})

t.test('a long text in the place of a file is refused before it takes memory', async t => {
  const text = `data:image/png;base64,${base64Of(1_000_000)}`
  await t.rejects(read(JSON.stringify({ url: `${text}!` })), { code: 'invalid_request' })
  t.ok(await read(JSON.stringify({ url: text })))
  t.ok(await read(JSON.stringify({ url: `${text.slice(0, 900_000)}!` })))
})

t.test('elsewhere than in messages, a file is the text that the client has sent', async t => {
  const body = {
    model: 'a',
    input: { ...inputOf(large), image_url: large, tools: [{ url: large, 'a/b': [{ url: named }] }] },
    metadata: { url: large, note: 'url' },
  }
  const { document, attachments } = await read(JSON.stringify(body))
  const request = withTexts(JSON.parse(document.toString()), attachments)
  const image_url = { url: large }
  t.same(request, {
    ...body,
    input: { ...inputOf(named), image_url: large, tools: [{ url: large, 'a/b': [image_url] }] },
  })
  t.same(
    attachedImages(request.input, attachments).map(({ inspected }) => inspected.sha256),
    [digest],
  )
  const address = 'https://example.com/a.png'
  t.same(withAddresses(request.input, new Map([[digest, address]])), { ...request.input, ...inputOf(address) })
})

t.test('a digest stands only for a file of the same request', async t => {
  const { document, attachments } = await read(JSON.stringify({ input: inputOf(named), filler: 'a'.repeat(70_000) }))
  const { input } = JSON.parse(document.toString()) as RunRequest
  t.same(attachedImages(input, attachments), [])
  t.same(withAddresses(input, new Map()), inputOf(named))
})

t.test('a file that arrived once stands in one place, however often the client writes its digest', async t => {
  const body = { input: { url: large, forged: Array(3).fill(named), at: `https://example.com/${digest}` } }
  const { document, attachments } = await read(JSON.stringify(body))
  const request = withTexts(JSON.parse(document.toString()), attachments)
  t.same(request, { input: { ...body.input, url: large } })
})

t.test('an address that ends with a digest is another address', async t => {
  const input = inputOf(`https://example.com/${digest}`)
  t.same(withAddresses(input, new Map([[digest, 'https://example.com/a.png']])), input)
})

t.test('messages may have any form, since they are checked later', async t => {
  const { attachments } = await read(JSON.stringify({ url: large }))
  for (const messages of [null, 1, 'a', [null], [[1]], [{ content: null }], [{ content: [null, 1, { image_url: 1 }] }]])
    t.same(attachedImages({ messages }, attachments), [])
})

/** Texts and the names of members, some of which look like those of files. */
const name = fc.constantFrom('url', 'image_url', 'text', '"url":"', 'url\\', '\\"', 'é')
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('data:image/png;base64,', '"url":"data:image/png;base64,', '\\', '"', 'data:;base64,AAAA'),
  fc
    .tuple(
      fc.constantFrom('data:;base64,', 'data:image/jpeg;a=b;base64,', ''),
      fc.integer({ min: 48_000, max: 300_000 }),
    )
    .map(([head, sizeBytes]) => head + base64Of(sizeBytes, sizeBytes)),
)
const value = fc.letrec(tie => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, text, fc.integer(), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(name, tie('value'), { maxKeys: 3 }),
})).object

t.test('a body with its files back in their places is the body', async t => {
  const property = fc.asyncProperty(value, fc.integer({ min: 1_000, max: 300_000 }), async (body, pieceBytes) => {
    const { document, attachments } = await read(JSON.stringify(body), pieceBytes)
    const request = { model: 'a', input: {}, metadata: JSON.parse(document.toString()) }
    t.strictSame(withTexts(request, attachments).metadata, JSON.parse(JSON.stringify(body)))
  })
  await fc.assert(property, { numRuns: isLong ? 500 : 50 })
})
