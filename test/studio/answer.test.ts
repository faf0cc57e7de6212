import t from 'tap'
import { answer as answered } from '../../src/studio/answer.ts'

const answer = (...asked: Parameters<typeof answered>) => answered(...asked).text

t.test('an answer quotes its prompt, and names the sandbox', async t => {
  const text = answer({ prompt: 'Why is the sky blue?' }, 1)
  t.match(text, '“Why is the sky blue?”')
  t.match(text, /sandbox/i)
  t.match(text, '5 words and 20 characters')
  t.ok(text.split(/[.!?] /).length >= 3, 'several sentences')
})

t.test('the same prompt and seed give the same answer, others a different one', async t => {
  const answers = Array.from({ length: 20 }, (_, seed) => answer({ prompt: 'Tell me about trains' }, seed))
  t.ok(new Set(answers).size > 3)
  t.same(
    answers,
    answers.map((_, seed) => answer({ prompt: 'Tell me about trains' }, seed)),
  )
})

t.test('any prompt is answered', async t => {
  for (const prompt of ['', ' \n ', '早上好', '👩‍👩‍👧‍👦', '?'.repeat(20_000), 'a long word '.repeat(1000)]) {
    const text = answer({ prompt }, 1)
    t.ok(text.length > 60 && text.length < 1000, `${text.length} characters`)
  }
})

t.test('the maximum length is respected', async t => {
  const whole = answer({ prompt: 'Tell me about trains' }, 1)
  t.equal(answer({ prompt: 'Tell me about trains', max_output_tokens: 1024 }, 1), whole)
  const short = answer({ prompt: 'Tell me about trains', max_output_tokens: 10 }, 1)
  t.ok(short.length <= 40 && short.endsWith('…'), short)
  const isCut = [10, 1024].map(max_output_tokens => answered({ prompt: 'Trains', max_output_tokens }, 1).isCut)
  t.same(isCut, [true, false])
})
