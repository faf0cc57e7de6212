import t from 'tap'
import { beginningOf, refundReasonOf } from '../../../src/console/runs/run-words.ts'

t.test('a beginning ends at a word, or anywhere in a text without words', async t => {
  for (const [text, expected] of [
    ['A short one', 'A short one'],
    ['A lighthouse in a storm', 'A lighthouse…'],
    ['Well written, and more', 'Well written…'],
    ['https://example.com/a/long/path', 'https://exampl…'],
    ['a 灯台の上に立つ猫が海を見ている', 'a 灯台の上に立つ猫が海を見…'],
    ['🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊', '🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊🌊…'],
  ] as const)
    t.equal(beginningOf(text, 14), expected)
})

t.test('a refund for a failure says why the run failed, and any other reason stays', async t => {
  t.equal(refundReasonOf('the run failed: invalid_input'), 'The input could not be used')
  for (const reason of ['the run failed', 'the run failed: it was black', 'the run failed: toString', 'An outage'])
    t.equal(refundReasonOf(reason), reason)
})
