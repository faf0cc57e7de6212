import type { Test } from 'tap'
import { createGoogleProvider } from '../../../../src/adapters/provider/google/provider.ts'
import type { Provider } from '../../../../src/ports/provider.ts'
import { googleKey, startGoogle } from '../../../support/vendors/google.ts'
import { vendorDependencies } from '../../../support/vendors/vendor-parts.ts'
import type { Handler, VendorServer } from '../../../support/vendors/vendor-server.ts'

/** A signal that never aborts. */
export const never = new AbortController().signal

export const unavailable = {
  kind: 'failed',
  code: 'provider_error',
  message: 'The provider is not available now.',
  retryable: true,
}
export const rejected = {
  kind: 'failed',
  code: 'content_rejected',
  message: 'The content policy of the provider forbids this.',
}
export const undone = { kind: 'failed', code: 'provider_error', message: 'The provider could not do this.' }

export const given = async (
  t: Test,
  answer: Handler,
): Promise<{ provider: Required<Provider>; server: VendorServer }> => {
  const server = await startGoogle(t, answer)
  const provider = createGoogleProvider(vendorDependencies(t, server.url, googleKey))
  return { server, provider: provider as Required<Provider> }
}

/** The requests as the stub saw them, such as `GET /v1beta/models?pageSize=1`. */
export const arrivals = ({ requests }: VendorServer) => requests.map(({ method, path }) => `${method} ${path}`)

export const bodyOf = ({ requests }: VendorServer, index = 0) => JSON.parse(requests[index]?.body.toString() ?? '')

/** Ends the connection in the middle of an answer. */
export const cutAnswer: Handler = (_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 })
  response.write('{"name":', () => response.socket?.end())
}
