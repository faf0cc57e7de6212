import t from 'tap'
import { printable } from '../../../src/cli/audit/text.ts'

t.test('characters that control a terminal, or hide or reorder text, are shown by their codes', async t => {
  t.equal(printable('a\u001b[2J\u009b2J\u007f\nb'), 'a\\u001b[2J\\u009b2J\\u007f\\nb')
  t.equal(printable('\u202e\u2028\u200b\ud800'), '\\u202e\\u2028\\u200b\\ud800')
  t.equal(printable('\u{e0041}'), '\\u{e0041}')
})

t.test('text of any script stays as it is', async t => {
  for (const text of ['Renée Müller', '山田 花子', '😀 – “quoted” \\ back']) t.equal(printable(text), text)
})
