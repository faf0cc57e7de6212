import { encodeForm } from './form.ts'
import type { LargeFiles } from './large-files.ts'

/** Sends a client's request, in whatever form the client makes it, with its large files. */
export const send = async (
  request: typeof fetch,
  files: LargeFiles,
  input: Parameters<typeof fetch>[0],
  init?: RequestInit,
): Promise<Response> => {
  if (input instanceof URL) return send(request, files, input.href, init)
  if (input instanceof Request) {
    const { url, method, headers, signal } = input
    return send(request, files, url, { method, headers, signal, body: await input.text() })
  }
  const headers = new Headers(init?.headers)
  const sendInTurns = (sizeBytes: number, inTurns: AsyncIterable<Uint8Array>) => {
    // With its length, since not every server takes a body in chunks.
    headers.set('content-length', String(sizeBytes))
    const body = inTurns as unknown as NonNullable<RequestInit['body']>
    return request(input, { ...init, headers, body, duplex: 'half' })
  }
  if (init?.body instanceof FormData) {
    const { contentType, sizeBytes, body } = encodeForm(init.body)
    headers.set('content-type', contentType)
    return sendInTurns(sizeBytes, body)
  }
  const filled = typeof init?.body === 'string' ? files.insert(init.body) : undefined
  return filled ? sendInTurns(filled.sizeBytes, filled.body) : request(input, init)
}
