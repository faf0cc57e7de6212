/** What a part of a form says of itself in its Content-Disposition. */
export interface Disposition {
  name: string | undefined
  filename: string | undefined
}

/** Reads a header such as `form-data; name="file"; filename="a.png"`. */
export const readDisposition = (header: string): Disposition => {
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, token = ''] of header.matchAll(PARAMETER))
    parameters.set(name.toLowerCase(), quoted === undefined ? token : unescaped(quoted))
  const filename = extended(parameters.get('filename*')) ?? parameters.get('filename')
  return {
    name: parameters.get('name'),
    // Some clients send the whole path.
    filename: filename?.split(/[/\\]/).at(-1),
  }
}

/** A quote that nobody closes ends with the header: looking for its end again and again would take long. */
const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;"]*))/gs

/** Browsers write a quote as HTML has it, and others put a backslash before it and before itself. */
const unescaped = (text: string) => text.replace(/%22|\\(["\\])/g, (_, escaped = '"') => escaped)

/** A value such as `UTF-8''%E2%82%AC` (RFC 8187); undefined for any that cannot be read. */
const extended = (value: string | undefined): string | undefined => {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? '')?.[1]
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
