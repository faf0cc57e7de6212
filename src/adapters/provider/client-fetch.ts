import type { VendorRequest } from '../../ports/vendor-request.ts'
import { encodeForm } from './form.ts'
import type { UpstreamCall } from './upstream-call.ts'

/** The statuses of answers that have no body. */
const BODILESS = [204, 205]

/** The `fetch` of a vendor's client that makes a call. */
export const clientFetch =
  (call: UpstreamCall): typeof fetch =>
  async (input, init) => {
    const { status, headers, body } =
      input instanceof Request
        ? await call.send(input.url, requestOf(input, await input.text()))
        : await call.send(String(input), requestOf(init ?? {}, init?.body))
    const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
    return new Response(BODILESS.includes(status) ? null : body, { status, headers: pairs })
  }

/** Clients send text or forms. */
const requestOf = (
  { method, headers, signal }: Pick<RequestInit, 'method' | 'headers' | 'signal'>,
  content: RequestInit['body'],
): VendorRequest => {
  const request = { method, headers: Object.fromEntries(new Headers(headers)), signal }
  if (!content) return request
  if (typeof content === 'string') return { ...request, body: content }
  if (!(content instanceof FormData)) throw new Error('a client sends something that is neither text nor a form')
  const { contentType, sizeBytes, body } = encodeForm(content)
  // States the length, since some servers accept no body in chunks.
  const described = { ...request.headers, 'content-type': contentType, 'content-length': String(sizeBytes) }
  return { ...request, headers: described, body }
}
