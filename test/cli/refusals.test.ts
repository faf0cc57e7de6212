import t from 'tap'
import { messages, unwrap } from '../../src/cli/refusals.ts'
import { messageOf } from '../../src/transports/refusals.ts'
import { refusalSamples } from '../support/refusal-samples.ts'

t.test('every refusal has a sentence for the operator', async t => {
  for (const refusal of refusalSamples) {
    t.match(messageOf(refusal, messages), /^[^ ].*[.?]$/, refusal.code)
    t.notMatch(messageOf(refusal, messages), /undefined|NaN|\[object/, refusal.code)
  }
})

t.test('an outcome yields its value or throws its refusal as an OperatorError', async t => {
  t.equal(unwrap({ value: 7 }), 7)
  t.throws(() => unwrap({ refuse: { code: 'key_not_found' } }), {
    name: 'OperatorError',
    message: /no such active key; "tollgate keys list ACCOUNT" shows its keys/,
  })
})
