import t from 'tap'
import { KEY_SCOPES } from '../../schemas/actor.ts'
import { ErrorBody } from '../../schemas/api/error.ts'
import { messages as ofMcp } from '../../src/mcp/refusals.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { errorOf, unwrap } from '../../src/transports/refusals.ts'
import { refusalSamples } from '../support/refusal-samples.ts'

const faultsOf = compileCheck(ErrorBody)

for (const [transport, own] of Object.entries({ HTTP: {}, MCP: ofMcp }))
  t.test(
    `${transport}: every refusal is a 4xx, or a 503 that says when to ask again, with a sentence as its message`,
    async t => {
      for (const refusal of refusalSamples) {
        const error = errorOf(refusal, own)
        const isKnown = error.status >= 400 && error.status < 500
        t.ok(isKnown || (error.status === 503 && error.retryAfterSeconds), `${refusal.code} is ${error.status}`)
        t.match(error.message, /^[^ ].*[.?]$/, refusal.code)
        t.notMatch(error.message, /undefined|NaN|\[object/, refusal.code)
        t.same(faultsOf(error.toBody('request-1')), [], refusal.code)
      }
    },
  )

t.test('MCP: messages name no routes and no headers that only HTTP clients send', async t => {
  for (const refusal of refusalSamples)
    t.notMatch(errorOf(refusal, ofMcp).message, /\/v1\/|GET|POST|Idempotency-Key/, refusal.code)
})

t.test('the message and details state the facts of a refusal', async t => {
  const said = (code: string) => {
    const { message, details } = errorOf(refusalSamples.find(each => each.code === code) as never)
    return { message, ...details }
  }
  t.match(said('insufficient_credits'), { required_credits: 10, credits_balance: 2.5 })
  t.match(said('input_invalid'), { errors: [{ path: '/input/seed', message: 'must be at least 0' }] })
  t.match(said('input_file_refused'), {
    message: 'image_url cannot be used. The upload does not exist or was deleted.',
  })
  t.match(said('address_not_public'), { message: /no private addresses and no denied ones\./ })
  t.match(said('model_not_found'), { message: /alias of a family, or the ID of an endpoint\.$/ })
  t.match(said('model_not_listed'), { message: /was withdrawn\. Use lumen/, replaced_by: 'lumen' })
  t.match(said('file_too_large'), { message: 'The file has 1001 bytes; the limit is 1000.' })
})

t.test('a refusal says when to retry if it knows', async t => {
  const retry = (code: string) => errorOf(refusalSamples.find(each => each.code === code) as never).retryAfterSeconds
  t.equal(retry('too_many_failures'), 5)
  t.equal(retry('too_many_open_runs'), undefined)
})

t.test('a forbidden key learns its scope and what the scope allows', async t => {
  for (const scope of KEY_SCOPES)
    t.match(errorOf({ code: 'forbidden', scope }), { status: 403, message: `scope "${scope}", so it may` })
  t.match(errorOf({ code: 'forbidden', scope: undefined }), { status: 403, message: 'You may not do this.' })
})

t.test('an outcome yields its value or throws its refusal as an API error', async t => {
  t.equal(unwrap({ value: 7 }), 7)
  t.throws(() => unwrap({ refuse: { code: 'run_not_found' } }), { name: 'ApiError', code: 'run_not_found' })
})
