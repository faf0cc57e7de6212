import t from 'tap'
import { isPortable, patternsIn } from '../../../src/services/catalog/schema-fault.ts'

t.test('patterns that all languages read alike are portable', async t => {
  for (const pattern of [
    '^run_[0-7][0-9a-hjkmnp-tv-z]{25}$',
    '^(https?://|data:)',
    '^(W/)?"[!#-~]*"$',
    '^[^/\\\\\\x00-\\x1f]+$',
    '^(?:a|b){1,1000}$',
    '^bytes ([0-9]+-[0-9]+|\\*)/[0-9]+$',
    '^é$',
  ])
    t.ok(isPortable(pattern), pattern)
})

t.test('abbreviations, lookarounds, references and what a language lacks are not portable', async t => {
  for (const pattern of [
    ...['\\d', '\\w', '\\s', 'a.b', '[\\d]', '\\bword', '\\p{L}', '\\u0041'],
    ...['(?!a)', '(?=a)', '(?<=a)', '(?<name>a)', '(a)\\1', '(?i)a'],
    ...['a{1001}', '[^a]', '[^a]{3}', '[a&&b]', '[a--b]', '[[a]]', '😀', '[😀]', '\\-'],
  ])
    t.notOk(isPortable(pattern), pattern)
})

t.test('patterns are found wherever a schema has them, and nowhere else', async t => {
  const schema = {
    properties: {
      pattern: { type: 'string', pattern: 'a', examples: [{ pattern: 'none' }], default: { pattern: 'none' } },
      list: { items: [{ anyOf: [{ pattern: 'b' }] }] },
    },
    patternProperties: { c: { pattern: 'd' } },
  }
  t.same(patternsIn(schema), ['a', 'b', 'c', 'd'])
})
