import type { IncomingHttpHeaders } from 'node:http'

/** A response whose body is in memory. To read it as a stream takes longer than the request. */
export const readResponse = (
  bytes: Uint8Array<ArrayBuffer>,
  status: number,
  headers: IncomingHttpHeaders,
): Response => {
  const init = { status, headers: toHeaders(headers, bytes.byteLength) }
  const response = new Response(null, init)
  const stream = () => new Response(isBodiless(status) ? null : bytes, init)
  const text = () => decoder.decode(bytes)
  Object.defineProperty(response, 'body', { get: () => stream().body })
  return Object.assign(response, {
    text: async () => text(),
    json: async () => JSON.parse(text()),
    arrayBuffer: async () => toArrayBuffer(bytes),
    blob: async () => stream().blob(),
    formData: async () => stream().formData(),
    clone: stream,
  })
}

const isBodiless = (status: number) => status === 204 || status === 205 || status === 304

const decoder = new TextDecoder()

/** Without a copy, if nothing else lies there. */
const toArrayBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): ArrayBuffer =>
  byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)

/** The length is known now, even of a body that came in pieces. */
const toHeaders = (headers: IncomingHttpHeaders, sizeBytes: number): Headers => {
  const result = new Headers()
  for (const [name, value] of Object.entries(headers))
    for (const one of [value].flat()) if (one !== undefined) result.append(name, one)
  result.set('content-length', String(sizeBytes))
  return result
}
