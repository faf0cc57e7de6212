/** The filename extension for a type; `bin` for types that are not listed here. */
export const extensionFor = (mimeType: string): string => extensions.get(mimeType) ?? FALLBACK

/** Whether a type has an extension of its own. */
export const hasExtension = (mimeType: string): boolean => extensions.has(mimeType)

/** The type that a name's extension stands for. Browsers save files of the fallback type instead of showing them. */
export const mimeTypeOf = (name: string): string =>
  types.get(name.split('.').at(-1) ?? '') ?? 'application/octet-stream'

const FALLBACK = 'bin'

const types = new Map([
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
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

// Of several extensions the last one is used.
const extensions = new Map([...types].map(([extension, mimeType]) => [mimeType, extension]))

/** Every extension that a file of the service can have. */
export const fileExtensions: readonly string[] = [...extensions.values(), FALLBACK]

/** A type without its parameters, in lower case. */
export const essenceOf = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase()

/** The registered name of a type that has other names too. */
export const commonName = (mimeType: string): string => commonNames.get(mimeType) ?? mimeType

const commonNames = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/apng', 'image/png'],
  ['video/x-m4v', 'video/mp4'],
])
