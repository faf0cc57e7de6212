import type { ErrorBody } from '../../schemas/api/error.ts'
import type { Upload } from '../../schemas/api/upload.ts'
import type { Client, Reply } from './client.ts'

/** A part of a form, sent verbatim: its headers and its body. */
export interface FormPart {
  headers: string | Uint8Array
  body: string | Uint8Array
}

const BOUNDARY = '----one-8f2c'
export const formType = `multipart/form-data; boundary=${BOUNDARY}`

/** Encodes parts as a request body. */
export const formOf = (...parts: FormPart[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ headers, body }) => [
      Buffer.from(`--${BOUNDARY}\r\n`),
      Buffer.from(headers),
      Buffer.from('\r\n\r\n'),
      Buffer.from(body),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ])

/** The file's part. `filename` is the parameter as written in the header. */
export const filePart = (body: string | Uint8Array, type = 'image/png', filename = 'filename="a.png"'): FormPart => ({
  headers: `Content-Disposition: form-data; name="file"; ${filename}\r\nContent-Type: ${type}`,
  body,
})

/** The part of an image to edit. */
export const imagePart = (body: Uint8Array, name = 'image'): FormPart => ({
  headers: `Content-Disposition: form-data; name="${name}"; filename="a.png"\r\nContent-Type: image/png`,
  body,
})

export const textPart = (name: string, body: string | Uint8Array): FormPart => ({
  headers: `Content-Disposition: form-data; name="${name}"`,
  body,
})

export const sendForm = (client: Client, body: Uint8Array, type = formType): Promise<Reply<Upload & ErrorBody>> =>
  client.send('/v1/uploads', { method: 'POST', headers: { 'Content-Type': type }, body })

/** Sends a form with these parts. */
export const upload = (client: Client, ...parts: FormPart[]) => sendForm(client, formOf(...parts))
