import t from 'tap'
import examples from '../../schemas/api/examples.json' with { type: 'json' }
import { checkAnswer } from '../support/document.ts'

// The clients of all other tests rely on this check to reject answers that the document does not describe.

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
const unfinished = { ...json, 'Tollgate-Position': '7', Location: '/v1/runs/run_1', 'Retry-After': '10' }
const { insufficient_credits, invalid_api_key, method_not_allowed, not_found, run_not_found, unavailable } =
  examples.errors
const { balance } = examples
const { image: imageRun, processing: processingRun } = examples.runs

t.test('documented answers pass', async t => {
  check('GET /v1/balance', 200, { body: balance })
  check('GET /v1/balance?x=1', 503, { headers: { ...json, 'Retry-After': '2' }, body: unavailable })
  check('HEAD /v1/balance', 200)
  check('POST /v1/run', 202, { headers: unfinished, body: processingRun })
  check(`GET ${cdn}`, 200, { headers: ofFile, body: 'any bytes' })
  check(`GET ${cdn}`, 304, { headers: ofFile })
  check('GET /v1/uploads/presigned', 404, { body: examples.errors.upload_not_found })
  check('GET /v2/runs', 404, { body: not_found })
  check('PATCH /v1/run', 405, { body: method_not_allowed })
  check('OPTIONS /v1/run', 204, { headers: {} })
  t.pass()
})

const wrong: Record<string, [RegExp, string, number, Given?]> = {
  'an undocumented status': [/no such status/, 'GET /v1/balance', 402, { body: insufficient_credits }],
  'a body with a missing field': [
    /required property 'credits_balance'/,
    'GET /v1/balance',
    200,
    { body: { object: 'balance' } },
  ],
  'a body with an extra field': [/additional properties/, 'GET /v1/balance', 200, { body: { ...balance, usd: 1 } }],
  'an invalid time': [
    /format "date-time"/,
    'GET /v1/runs/x',
    200,
    { body: { ...imageRun, created_at: '2026-11-31T00:00:00.000Z' } },
  ],
  'a missing body': [/must be object/, 'GET /v1/balance', 200],
  'an unexpected body': [/no body/, `GET ${cdn}`, 304, { headers: ofFile, body: 'bytes' }],
  'a body after HEAD': [/no body/, 'HEAD /v1/balance', 200, { body: balance }],
  'another content type': [
    /type is text\/plain/,
    'GET /v1/balance',
    200,
    { headers: { ...named, 'Content-Type': 'text/plain' }, body: 'x' },
  ],
  'a missing header': [
    /Location is missing/,
    'POST /v1/run',
    202,
    { headers: { ...json, 'Tollgate-Position': '7', 'Retry-After': '10' }, body: processingRun },
  ],
  'an invalid header': [
    /Retry-After/,
    'POST /v1/run',
    202,
    { headers: { ...unfinished, 'Retry-After': 'soon' }, body: processingRun },
  ],
  'an invalid optional header': [
    /Preference-Applied/,
    'POST /v1/run',
    202,
    { headers: { ...unfinished, 'Preference-Applied': 'yes' }, body: processingRun },
  ],
  'an error without its header': [/Retry-After is missing/, 'GET /v1/balance', 503, { body: unavailable }],
  'an error with the wrong status': [
    /allowed values/,
    'GET /v1/balance',
    401,
    { headers: { ...json, 'WWW-Authenticate': 'Bearer' }, body: run_not_found },
  ],
  'a success on an unknown path': [/the error is none/, 'GET /v2/runs', 404, { body: balance }],
  'another error on an unknown path': [/the code is run_not_found/, 'GET /v2/runs', 404, { body: run_not_found }],
  'another status on an unknown path': [/the code is not_found/, 'GET /v2/runs', 200, { body: not_found }],
  'a success for an unknown method': [/the error is none/, 'PATCH /v1/run', 200, { body: imageRun }],
  'a request for a key on an unknown path': [
    /the code is invalid_api_key/,
    'GET /v2/runs',
    401,
    { body: invalid_api_key },
  ],
}

for (const [name, [fault, ...answer]] of Object.entries(wrong))
  t.test(`${name} is rejected`, async t => {
    t.throws(() => check(...answer), { message: fault })
  })
