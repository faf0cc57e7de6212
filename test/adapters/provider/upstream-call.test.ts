import t from 'tap'
import { type FailureForm, UpstreamCall } from '../../../src/adapters/provider/upstream-call.ts'

const form: FailureForm = { provider: 'Vendor', rules: [], read: () => ({}) }

/** A call whose request fails with a code, as the platform's fetch does. */
const failedWith = async (code: string) => {
  const error = new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code }) })
  const call = new UpstreamCall(async () => Promise.reject(error))
  await call.send('https://vendor.example', { headers: {} }).catch(() => undefined)
  return () => call.failure(error, form, [])
}

t.test('a request that was not sent was not accepted', async t => {
  const codes = [
    ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
    ...['CERT_HAS_EXPIRED', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'],
  ]
  for (const code of codes)
    t.match((await failedWith(code))(), { retryable: true, fault: { kind: 'unreachable' } }, code)
})

t.test('one that may have been sent may have been accepted', async t => {
  const codes = [
    ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT'],
    ...['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', 'ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC'],
  ]
  for (const code of codes) t.throws(await failedWith(code), { message: `Vendor did not answer: ${code}` }, code)
})

t.test('a redirect is not followed, and says nothing of the request', async t => {
  const call = new UpstreamCall(async () => ({ status: 307, headers: { location: '/' }, body: Buffer.of() }))
  const error = await call.send('https://vendor.example', { headers: {} }).catch(error => error)
  t.throws(() => call.failure(error, form, []), { message: 'Vendor answered with 307' })
})

t.test("a provider's words show a client no key and no address, in whatever form", async t => {
  const key = 'vendor-key-0123456789'
  const encoded = Buffer.from(`Bearer ${key}`).toString('base64')
  const addresses = 'https://vendor.example/?sig=1 HTTPS://vendor.example/?sig=1'
  const message = `bad ${key} (${encoded}) of r8_${'A1b2'.repeat(10)} at ${addresses} use prompt`
  const call = new UpstreamCall(async () => ({ status: 400, headers: {}, body: Buffer.from('{}') }))
  const error = await call.send('https://vendor.example', { headers: {} }).catch(error => error)
  const failed = call.failure(error, { ...form, read: () => ({ message }) }, [key])
  t.equal(failed.message, 'The provider does not accept this input: bad … (…) of … at … … use prompt')
})
