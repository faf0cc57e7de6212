import t from 'tap'
import { errorExamples } from '../../schemas/api/error-examples.ts'
import { balance, filmOnItsWay, picture } from '../../schemas/api/examples.ts'
import { checkAnswer } from '../support/document.ts'

// What the clients of all other tests rely on: that an answer which is not as the document has it does not pass.

const named = { 'X-Request-Id': 'a-1' }
const json = { ...named, 'Content-Type': 'application/json; charset=utf-8' }

interface Given {
  headers?: Record<string, string>
  body?: unknown
}

const check = (request: string, status: number, { headers = json, body }: Given = {}) => {
  const [method = '', target = ''] = request.split(' ')
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
  return checkAnswer(method, target, { status, headers: new Headers(headers), text })
}

const cdn = '/cdn/outputs/lake.png'
const ofFile = {
  ...named,
  ETag: '"1"',
  'Accept-Ranges': 'bytes',
  'Cache-Control': 'no-store',
  'Content-Type': 'image/png',
}
const onItsWay = { ...json, 'Tollgate-Position': '7', Location: '/v1/runs/run_1', 'Retry-After': '10' }
const { insufficient_credits, invalid_api_key, method_not_allowed, not_found, run_not_found, unavailable } =
  errorExamples

t.test('what the document has passes', async t => {
  check('GET /v1/balance', 200, { body: balance })
  check('GET /v1/balance?x=1', 503, { headers: { ...json, 'Retry-After': '2' }, body: unavailable })
  check('HEAD /v1/balance', 200)
  check('POST /v1/run', 202, { headers: onItsWay, body: filmOnItsWay })
  check(`GET ${cdn}`, 200, { headers: ofFile, body: 'any bytes' })
  check(`GET ${cdn}`, 304, { headers: ofFile })
  check('GET /v1/uploads/presigned', 404, { body: errorExamples.upload_not_found })
  check('GET /v2/runs', 404, { body: not_found })
  check('PATCH /v1/run', 405, { body: method_not_allowed })
  check('OPTIONS /v1/run', 204, { headers: {} })
  t.pass()
})

const wrong: Record<string, [RegExp, string, number, Given?]> = {
  'a status that the operation lacks': [/no such status/, 'GET /v1/balance', 402, { body: insufficient_credits }],
  'a body that lacks something': [
    /required property 'credits_balance'/,
    'GET /v1/balance',
    200,
    { body: { object: 'balance' } },
  ],
  'a body with something more': [/additional properties/, 'GET /v1/balance', 200, { body: { ...balance, usd: 1 } }],
  'a time that is none': [
    /format "date-time"/,
    'GET /v1/runs/x',
    200,
    { body: { ...picture, created_at: '2026-11-31T00:00:00.000Z' } },
  ],
  'no body where there is one': [/must be object/, 'GET /v1/balance', 200],
  'a body where there is none': [/no body/, `GET ${cdn}`, 304, { headers: ofFile, body: 'bytes' }],
  'a body after HEAD': [/no body/, 'HEAD /v1/balance', 200, { body: balance }],
  'another type': [
    /type is text\/plain/,
    'GET /v1/balance',
    200,
    { headers: { ...named, 'Content-Type': 'text/plain' }, body: 'x' },
  ],
  'a header that is missing': [
    /Location is missing/,
    'POST /v1/run',
    202,
    { headers: { ...json, 'Tollgate-Position': '7', 'Retry-After': '10' }, body: filmOnItsWay },
  ],
  'a header that is wrong': [
    /Retry-After/,
    'POST /v1/run',
    202,
    { headers: { ...onItsWay, 'Retry-After': 'soon' }, body: filmOnItsWay },
  ],
  'an optional header that is wrong': [
    /Preference-Applied/,
    'POST /v1/run',
    202,
    { headers: { ...onItsWay, 'Preference-Applied': 'yes' }, body: filmOnItsWay },
  ],
  'no header where an error has one': [/Retry-After is missing/, 'GET /v1/balance', 503, { body: unavailable }],
  'an error of another status': [
    /allowed values/,
    'GET /v1/balance',
    401,
    { headers: { ...json, 'WWW-Authenticate': 'Bearer' }, body: run_not_found },
  ],
  'no error where nothing is': [/the error is none/, 'GET /v2/runs', 404, { body: balance }],
  'another error where nothing is': [/the code is run_not_found/, 'GET /v2/runs', 404, { body: run_not_found }],
  'another status where nothing is': [/the code is not_found/, 'GET /v2/runs', 200, { body: not_found }],
  'a method that is not there but answered': [/the error is none/, 'PATCH /v1/run', 200, { body: picture }],
  'a key that is asked for where nothing is': [
    /the code is invalid_api_key/,
    'GET /v2/runs',
    401,
    { body: invalid_api_key },
  ],
}

for (const [name, [fault, ...answer]] of Object.entries(wrong))
  t.test(`${name} does not`, async t => {
    t.throws(() => check(...answer), { message: fault })
  })
