import t from 'tap'
import { MAX_JSON_NAMES, MAX_JSON_VALUES } from '../../schemas/primitives.ts'
import { parseBounded } from '../../src/http/bodies/bounded-json.ts'
import type { ApiError } from '../../src/transports/api-error.ts'

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

t.test('the rest of a text beyond the bounds is not read', async t => {
  let read = 0
  const text = {
    length: 1_000_000,
    charCodeAt: () => {
      read += 1
      return '['.charCodeAt(0)
    },
  }
  t.throws(() => parseBounded(text as unknown as string), /more than 10000 values/)
  t.equal(read, MAX_JSON_VALUES)
})

t.test('an integer that would be rounded is refused with its place', async t => {
  const placed = (text: string) => {
    try {
      parseBounded(text)
      return 'parsed'
    } catch (error) {
      t.match(error, {
        code: 'invalid_request',
        message: /is beyond 9007199254740991 and would be rounded; send it as a/,
      })
      return (error as ApiError).details['errors']
    }
  }
  const refused: [text: string, path: string][] = [
    ['{"order":9007199254740992}', '/order'],
    ['{"order":-9007199254740993}', '/order'],
    ['{"a":1,"ids":[1,{"b/c":12345678901234567890}]}', '/ids/1/b~1c'],
    ['{"id":12345678901234567890.0}', '/id'],
    ['{"a":"\\\\","b\\"":98765432109876543210 }', '/b"'],
    ['[1,36028797018963969e0]', '/1'],
    ['{"id":9.007199254740993e15}', '/id'],
    ['{"id":-0.09007199254740993E+17}', '/id'],
    ['{"id":12345678901234567890,"id":1}', ''],
  ]
  for (const [text, path] of refused) t.match(placed(text), [{ path }], text)
  for (const text of [
    ...['9007199254740991', '-9007199254740991', '"12345678901234567890"', '1e300', '1.7976931348623157e308'],
    ...['0.1234567890123456789', '1234567890123456.5', '1234567890123456e-3', '"a\\",12345678901234567890"'],
    ...['1.234567890123456800e+25', '9.007199254740993e14', `1e${'0'.repeat(30)}9`],
  ])
    t.equal(placed(`{"a":${text}}`), 'parsed', text)
  t.equal(placed(JSON.stringify({ 'a 12345678901234567890': 1 })), 'parsed')
})
