import t from 'tap'
import { MAX_JSON_NAMES, MAX_JSON_VALUES } from '../../schemas/primitives.ts'
import { parseBounded } from '../../src/http/bounded-json.ts'

const list = (length: number) => JSON.stringify(Array(length).fill(0))
const names = (count: number) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [at, 0])))

t.test('a text within the bounds is parsed', async t => {
  // The list is a value too, and an empty list counts as if it held one.
  const texts = [list(MAX_JSON_VALUES - 1), names(MAX_JSON_NAMES), '[]', ' {"a":"{[,:]}\\\\","b\\"{,":["\\\\\\"[,"]} ']
  for (const text of texts) t.same(parseBounded(text), JSON.parse(text))
  const marks = JSON.stringify({ prompt: '[{,:\\"'.repeat(MAX_JSON_VALUES) })
  t.same(parseBounded(marks), JSON.parse(marks))
})

t.test('a text beyond the bounds is refused before it is parsed', async t => {
  const message = (text: string) => {
    try {
      return parseBounded(text)
    } catch (error) {
      return (error as Error).message
    }
  }
  t.equal(message(list(MAX_JSON_VALUES)), 'The body has more than 10000 values.')
  t.equal(message(names(MAX_JSON_NAMES + 1)), 'The body has more than 2000 names.')
  t.equal(message('['.repeat(100_000)), 'The body has more than 10000 values.')
  t.equal(message(`{"a":"\\\\",${',0'.repeat(MAX_JSON_VALUES)}`), 'The body has more than 10000 values.')
})
