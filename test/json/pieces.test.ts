import fc from 'fast-check'
import t from 'tap'
import { canonicalJson } from '../../src/engine/log/hash-chain.ts'
import { SLICE_BYTES } from '../../src/json/base64.ts'
import { isLongJson, jsonInPieces } from '../../src/json/pieces.ts'

const written = async (value: unknown, canonical?: typeof canonicalJson) => {
  const pieces: string[] = []
  for await (const piece of jsonInPieces(value, canonical)) pieces.push(piece)
  return pieces
}

const long = fc
  .tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.integer({ min: 1, max: 3 }))
  .map(([text, slices]) => text.repeat(Math.ceil((slices * SLICE_BYTES) / text.length)))
const value = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(fc.string({ unit: 'grapheme' }), long, fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.constantFrom(null, true, undefined),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ unit: 'grapheme' }), tie('value'), { maxKeys: 4 }),
  ),
})).value

t.test('the pieces are the JSON, and with sorted names the canonical JSON', async t => {
  const property = fc.asyncProperty(fc.dictionary(fc.string(), value, { maxKeys: 4 }), async object => {
    t.equal((await written(object)).join(''), JSON.stringify(object))
    t.equal((await written(object, canonicalJson)).join(''), canonicalJson(object))
  })
  await fc.assert(property, { numRuns: 100 })
})

t.test('no piece is long, and each holds whole short strings', async t => {
  const short = Array.from({ length: 100 }, (_, index) => `${index}`.repeat(10_000))
  const pieces = await written({ short, text: '"'.repeat(5 * SLICE_BYTES) })
  t.ok(pieces.length > 10)
  for (const piece of pieces) t.ok(piece.length <= 3 * SLICE_BYTES)
  for (const each of short) t.ok(pieces.some(piece => piece.includes(`"${each}"`)))
})

t.test('a value is long by all its characters', async t => {
  t.notOk(isLongJson({ a: ['x'.repeat(SLICE_BYTES - 1)] }))
  t.ok(isLongJson({ a: [{ b: 'x'.repeat(SLICE_BYTES) }] }))
  t.ok(isLongJson(Array(24).fill('x'.repeat(SLICE_BYTES / 24))))
})
