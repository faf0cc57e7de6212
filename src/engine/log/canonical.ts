import { configure } from 'safe-stable-stringify'

/** Sorts keys by UTF-16 code units, and writes strings and numbers as JSON.stringify does, as RFC 8785 requires. */
const stringify = configure({ strict: true })

/**
 * How JSON.stringify writes half of a surrogate pair, which RFC 8785 refuses. The lookbehind skips escaped backslashes.
 */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/

/** The canonical form of a JSON value (RFC 8785), so that equal values have equal text. */
export const canonicalJson = (value: unknown): string => {
  const text = stringify(value)
  if (text === undefined || (text.includes('\\ud') && LONE_SURROGATE.test(text)))
    throw new TypeError('only a JSON value has a canonical form')
  return text
}
