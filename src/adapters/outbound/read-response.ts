import type { IncomingHttpHeaders } from 'node:http'
import { ReadHeaders } from './read-headers.ts'

/** A response whose body is in memory. To read it as a stream takes longer than the request. */
export const readResponse = (
  bytes: Uint8Array<ArrayBuffer>,
  status: number,
  received: IncomingHttpHeaders,
): Response => {
  // The length is known now, even of a body that came in pieces.
  const headers = new ReadHeaders({ ...received, 'content-length': String(bytes.byteLength) })
  const stream = () => new Response(isBodiless(status) ? null : bytes, { status, headers: [...headers] })
  const text = () => decoder.decode(bytes)
  const response = new Response(null, { status })
  Object.defineProperties(response, { body: { get: () => stream().body }, headers: { value: headers } })
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
