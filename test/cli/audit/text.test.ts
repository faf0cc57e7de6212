import t from 'tap'
import { credits, duration, printable, shortened, signedCredits, split, wrapped } from '../../../src/cli/audit/text.ts'

t.test('characters that control a terminal, or hide or reorder text, are shown by their codes', async t => {
  t.equal(printable('a\u001b[2J\u009b2J\u007f\nb'), 'a\\u001b[2J\\u009b2J\\u007f\\nb')
  t.equal(printable('\u202e\u2028\u200b\ud800'), '\\u202e\\u2028\\u200b\\ud800')
  t.equal(printable('\u{e0041}'), '\\u{e0041}')
})

t.test('text of any script stays as it is', async t => {
  for (const text of ['Renée Müller', '山田 花子', '😀 – “quoted” \\ back']) t.equal(printable(text), text)
})

t.test('credits are exact, with their sign and side', async t => {
  t.same([0, 1, 1_234_500_000, -9_007_199_254_740_991].map(credits), [
    '0',
    '0.000001',
    '1,234.5',
    '−9,007,199,254.740991',
  ])
  t.same([5_000_000, -500_000].map(signedCredits), ['+5', '−0.5'])
  t.same(split({ freeMicros: -4_000_000, paidMicros: -6_000_000 }, signedCredits), ['−4 free', '−6 paid'])
  t.same(split({ freeMicros: 0, paidMicros: 6_000_000 }), ['6 paid'])
  t.same(split({ freeMicros: 0, paidMicros: 0 }), ['0'])
})

t.test('text is broken at spaces, and long words within', async t => {
  t.equal(wrapped('one two three', 7), 'one two\nthree')
  t.equal(wrapped('an abcdefghijkl b', 5), 'an\nabcde\nfghij\nkl b')
  t.equal(wrapped('', 5), '')
  t.equal(wrapped('😀😀😀😀', 2), '😀😀\n😀😀')
})

t.test('a long text is cut and tells its length', async t => {
  t.equal(shortened('abc', 3), 'abc')
  t.equal(shortened('abcd', 3), 'abc… (4 characters)')
})

t.test('durations are told in the largest units', async t => {
  const told = ['0 s', '0.277 s', '59.999 s', '1 min 0 s', '2 min 3 s', '1 h 0 min', '27 h 5 min', '−1 s']
  const ms = [0, 277, 59_999, 60_000, 123_456, 3_600_000, (27 * 60 + 5) * 60_000, -1000]
  t.same(ms.map(duration), told)
})
