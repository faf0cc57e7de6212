import t from 'tap'
import { type FailureForm, UpstreamCall } from '../../../src/adapters/provider/upstream-call.ts'

const form: FailureForm = { provider: 'Any', rules: [], read: () => ({}) }

/** What a call's failure means if its request ends with an error of these facts. */
const meaningOf = async (facts: object, isNested: boolean) => {
  const error = Object.assign(new Error('broken'), facts)
  const call = new UpstreamCall(async () => {
    throw isNested ? new TypeError('fetch failed', { cause: error }) : error
  })
  const thrown = await call.send('http://any', { headers: {} }).catch((error: unknown) => error)
  try {
    return call.failure(thrown, form, []).fault?.kind
  } catch {
    return 'nobody knows'
  }
}

t.test('a request was not sent only if there was no connection', async t => {
  const cases = [
    { facts: { code: 'ECONNREFUSED', syscall: 'connect' }, expected: 'unreachable' },
    { facts: { code: 'EHOSTUNREACH', syscall: 'connect' }, expected: 'unreachable' },
    { facts: { code: 'ENOTFOUND', syscall: 'getaddrinfo' }, expected: 'unreachable' },
    { facts: { code: 'UND_ERR_CONNECT_TIMEOUT' }, expected: 'unreachable' },
    { facts: { code: 'CERT_HAS_EXPIRED' }, expected: 'unreachable' },
    { facts: { code: 'EHOSTUNREACH', syscall: 'read' }, expected: 'nobody knows' },
    { facts: { code: 'ENETUNREACH', syscall: 'write' }, expected: 'nobody knows' },
    { facts: { code: 'ECONNRESET', syscall: 'read' }, expected: 'nobody knows' },
    { facts: { code: 'UND_ERR_SOCKET' }, expected: 'nobody knows' },
    { facts: {}, expected: 'nobody knows' },
  ]
  for (const { facts, expected } of cases)
    for (const isNested of [false, true])
      t.equal(await meaningOf(facts, isNested), expected, JSON.stringify({ facts, isNested }))
})
