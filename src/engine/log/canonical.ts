import { hash } from 'node:crypto'
import { configure } from 'safe-stable-stringify'

/** Sorts keys by UTF-16 code units and writes texts and numbers as JSON.stringify does, which is what RFC 8785 asks for. */
const stringify = configure({ strict: true })

/** What JSON.stringify makes of half a character, which RFC 8785 refuses. An escaped backslash before it is none of that. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/

/** A JSON value in the one form that RFC 8785 gives it, so that equal values have equal text. */
export const canonicalJson = (value: unknown): string => {
  const text = stringify(value)
  if (text === undefined || (text.includes('\\ud') && LONE_SURROGATE.test(text)))
    throw new TypeError('only a JSON value has a canonical form')
  return text
}

/** SHA-256 in lowercase hex. */
export const sha256 = (text: string | Uint8Array): string => hash('sha256', text, 'hex')
