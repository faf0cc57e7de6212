/** The parameters of a form part's Content-Disposition. */
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

/** An unclosed quote ends with the header, since searching for its end repeatedly would take long. */
const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;"]*))/gs

/** Browsers percent-encode a quote as HTML specifies; other clients escape it and the backslash with a backslash. */
const unescaped = (text: string) => text.replace(/%22|\\(["\\])/g, (_, escaped = '"') => escaped)

/** A value such as `UTF-8''%E2%82%AC` (RFC 8187); undefined if it is unreadable. */
const extended = (value: string | undefined): string | undefined => {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? '')?.[1]
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
