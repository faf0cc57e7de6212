import { parse } from '@hapi/bourne'
import {
  MAX_JSON_DEPTH,
  MAX_JSON_NAMES,
  MAX_JSON_VALUES,
  MAX_LONG_JSON_NAMES,
  MAX_LONG_JSON_VALUES,
} from '../../../schemas/primitives.ts'
import { toPointerPart } from '../../services/schema-check.ts'
import { ApiError } from '../../transports/api-error.ts'

/** The most values and names of a body. */
export interface JsonLimits {
  maxValues: number
  maxNames: number
}

const shortJson: JsonLimits = { maxValues: MAX_JSON_VALUES, maxNames: MAX_JSON_NAMES }

export const longJson: JsonLimits = { maxValues: MAX_LONG_JSON_VALUES, maxNames: MAX_LONG_JSON_NAMES }

/** A body that holds no JSON. */
export class NotJson extends ApiError {
  constructor(message: string, fault: string) {
    super('invalid_request', message, { errors: [{ path: '', message: fault }] })
  }
}

/**
 * Parses the JSON object or array of a body. Throws NotJson, or invalid_request for what a schema cannot check: the
 * number of values and names, the depth, the name `__proto__`, integers that would be rounded, and values without a
 * canonical form, which are infinite numbers and lone surrogates. `at` is the place of the text in a body.
 */
export const parseBounded = (text: string, at = '', limits = shortJson): object => boundedJson(text, at, limits)()

/** The same in two steps, since each takes a twentieth of a second for a long text. Returns the second step. */
export const boundedJson = (text: string, at: string, limits = shortJson) => {
  const { maxValues, maxNames } = limits
  const { values, names, rounded } = scan(text, limits)
  if (values > maxValues) throw tooMany(maxValues, 'values')
  if (names > maxNames) throw tooMany(maxNames, 'names')
  return () => parseScanned(text, at, rounded)
}

const parseScanned = (text: string, at: string, rounded: Span | undefined): object => {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null)
    throw invalid('', 'The body must be a JSON object.', 'must be an object')
  checkValue(value, at, 0)
  if (rounded) throw tooPrecise(placeOf(rounded, text, at))
  return value
}

const parsed = (text: string): unknown => {
  try {
    return parse(text)
  } catch (error) {
    throw new NotJson(`The body is not valid JSON: ${(error as Error).message}.`, 'is not valid JSON')
  }
}

/** A part of a text. */
interface Span {
  start: number
  end: number
}

/**
 * The most values and the number of names that a JSON text can hold, and the first integer that would be rounded.
 * A scan for marks and numbers between strings takes a fraction of the time of parsing, which needs a quarter of a
 * second for a megabyte of names. Ends at a limit, since a text of only marks takes a second.
 */
const scan = (text: string, { maxValues, maxNames }: JsonLimits): { values: number; names: number; rounded?: Span } => {
  let values = 1
  let names = 0
  let rounded: Span | undefined
  for (let at = 0; at < text.length && values <= maxValues && names <= maxNames; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA || code === BRACE || code === BRACKET) values++
    else if (code === COLON) names++
    else if (code >= ZERO && code <= NINE) {
      const end = endOfNumber(text, at)
      if (!rounded && isRounded(text.slice(at, end))) rounded = { start: at, end }
      at = end - 1
    }
  }
  return { values, names, ...(rounded && { rounded }) }
}

/** The place of the quote that ends a string. Most of a long body is strings, and searching them is fast. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end > 0 ? end : text.length
}

const isEscaped = (text: string, at: number): boolean => {
  let before = at
  while (text.charCodeAt(before - 1) === BACKSLASH) before--
  return (at - before) % 2 === 1
}

const endOfNumber = (text: string, start: number): number => {
  NUMBER.lastIndex = start
  NUMBER.test(text)
  return NUMBER.lastIndex
}

const NUMBER = /\d+(?:\.\d*)?(?:[eE][+-]?\d*)?/y

/**
 * Whether a number, without its sign, begins with an integer that a double cannot hold exactly. 1e300 keeps its digits.
 */
const isRounded = (number: string): boolean =>
  number.length >= 16 &&
  Number(number) > Number.MAX_SAFE_INTEGER &&
  (/^\d{16}/.test(number) || !isSame(digitsOf(number), digitsOf(String(Number(number)))))

const digitsOf = (number: string): string => number.replace(/e.*/i, '').replace('.', '').replace(/^0+/, '')

/** Compares digits without their trailing zeros. */
const isSame = (a: string, b: string): boolean => a.padEnd(b.length, '0') === b.padEnd(a.length, '0')

/**
 * The place of a number in a valid text. Older versions of Node.js cannot say where they found a value, so a mark
 * replaces the number: a lone surrogate, which no other value is, because the text was checked for them.
 */
const placeOf = ({ start, end }: Span, text: string, at: string): string => {
  const from = text[start - 1] === '-' ? start - 1 : start
  return pathOf(parse(`${text.slice(0, from)}"\\ud800"${text.slice(end)}`), at) ?? at
}

const pathOf = (value: unknown, path: string): string | undefined => {
  if (value === '\ud800') return path
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const found = pathOf(member, `${path}/${toPointerPart(name)}`)
    if (found !== undefined) return found
  }
  return undefined
}

const [QUOTE, BACKSLASH, COMMA, COLON, BRACE, BRACKET, ZERO, NINE] = [0x22, 0x5c, 0x2c, 0x3a, 0x7b, 0x5b, 0x30, 0x39]

const checkValue = (value: unknown, path: string, depth: number): void => {
  if (typeof value === 'string') checkText(value, path)
  else if (typeof value === 'number' && !Number.isFinite(value))
    throw invalid(path, 'The number is too large.', 'is too large')
  else if (typeof value !== 'object' || value === null) return
  else if (depth === MAX_JSON_DEPTH) throw invalid(path, TOO_DEEP, 'is nested too deeply')
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) checkValue(item, `${path}/${index}`, depth + 1)
  else
    for (const [name, item] of Object.entries(value)) {
      checkText(name, path)
      checkValue(item, `${path}/${toPointerPart(name)}`, depth + 1)
    }
}

const checkText = (text: string, path: string) => {
  if (!text.isWellFormed()) throw invalid(path, 'The string is not well-formed Unicode.', 'is not well-formed Unicode')
}

const TOO_DEEP = `The body is nested deeper than ${MAX_JSON_DEPTH} levels.`

/** The place is empty if another value of the same name replaces the number. */
const tooPrecise = (path: string) =>
  invalid(
    path,
    `The number at ${path || '/'} is beyond ${Number.MAX_SAFE_INTEGER} and would be rounded; send it as a string.`,
    `is beyond ${Number.MAX_SAFE_INTEGER} and would be rounded; send it as a string`,
  )

const tooMany = (limit: number, noun: string) =>
  invalid('', `The body has more than ${limit} ${noun}.`, `has more than ${limit} ${noun}`)

const invalid = (path: string, message: string, fault: string) =>
  new ApiError('invalid_request', message, { errors: [{ path: path.slice(0, 200), message: fault }] })
