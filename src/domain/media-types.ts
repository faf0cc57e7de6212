/** The ending that a name gets for a type; `bin` for a type that has none here. */
export const endingFor = (mimeType: string): string => endings.get(mimeType) ?? 'bin'

/** What a name's ending says of the content. Anything else is bytes that a browser only saves. */
export const mimeTypeOf = (name: string): string =>
  types.get(name.split('.').at(-1) ?? '') ?? 'application/octet-stream'

const types = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['avif', 'image/avif'],
  ['mp4', 'video/mp4'],
  ['webm', 'video/webm'],
  ['mov', 'video/quicktime'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['ogg', 'audio/ogg'],
  ['txt', 'text/plain'],
])

const endings = new Map([...types].map(([ending, mimeType]) => [mimeType, ending]))

/** A type without its parameters, in lower case. */
export const essenceOf = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase()

/** The type that another one counts as, or goes by. */
export const commonName = (mimeType: string): string => commonNames.get(mimeType) ?? mimeType

const commonNames = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/apng', 'image/png'],
  ['video/x-m4v', 'video/mp4'],
])
