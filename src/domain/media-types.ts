/** The filename extension for a type; `bin` for types that are not listed here. */
export const extensionFor = (mimeType: string): string => extensions.get(mimeType) ?? FALLBACK

/** Whether a type has an extension of its own. */
export const hasExtension = (mimeType: string): boolean => extensions.has(mimeType)

/**
 * The type of a file by the extension of its name. Browsers save files of the fallback type instead of showing them.
 */
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
  ['json', 'application/json'],
])

// Of several extensions the last one is used.
const extensions = new Map([...types].map(([extension, mimeType]) => [mimeType, extension]))

/** Every extension that a file of the service can have. */
export const fileExtensions: readonly string[] = [...extensions.values(), FALLBACK]

/** A type without its parameters, in lower case. */
export const essenceOf = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase()

/**
 * The registered name of a type that has other names too. Forms, presigned URLs, the bytes of files, servers and
 * providers may use the other names.
 */
export const commonName = (mimeType: string): string => commonNames.get(mimeType) ?? mimeType

/** The registered name of a stated type; undefined if none is stated, or one for any bytes. */
export const specificType = (contentType = ''): string | undefined => {
  const mimeType = commonName(essenceOf(contentType))
  return anyBytes.has(mimeType) ? undefined : mimeType
}

const commonNames = new Map(
  Object.entries({
    'image/jpeg': ['image/jpg', 'image/pjpeg', 'image/x-jpeg', 'image/jfif'],
    'image/png': ['image/x-png', 'image/apng', 'image/vnd.mozilla.apng'],
    'image/webp': ['image/x-webp'],
    'image/gif': ['image/x-gif'],
    'image/avif': ['image/avif-sequence', 'image/x-avif'],
    'video/mp4': ['video/x-m4v', 'video/m4v', 'video/x-mp4', 'video/mpeg4', 'application/mp4'],
    'video/webm': ['video/x-webm'],
    'video/quicktime': ['video/mov', 'video/x-mov', 'video/x-quicktime'],
    'audio/mpeg': ['audio/mp3', 'audio/x-mp3', 'audio/x-mpeg'],
    'audio/wav': ['audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  }).flatMap(([name, others]) => others.map(other => [other, name])),
)

const anyBytes: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream'])
