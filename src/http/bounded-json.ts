import { parse } from '@hapi/bourne'
import { MAX_JSON_DEPTH, MAX_JSON_NAMES, MAX_JSON_VALUES } from '../../schemas/primitives.ts'
import { toPointerPart } from '../services/schema-check.ts'
import { ApiError } from './api-error.ts'

/** A body that holds no JSON. */
export class NotJson extends ApiError {
  constructor(message: string, fault: string) {
    super('invalid_request', message, { errors: [{ path: '', message: fault }] })
  }
}

/**
 * Parses the JSON object or array of a body. Throws NotJson, or invalid_request for what a schema cannot check: the
 * number of values and names, the depth, the name `__proto__`, and values without a canonical form, which are infinite
 * numbers and lone surrogates.
 */
export const parseBounded = (text: string): object => {
  const { values, names } = countsOf(text)
  if (values > MAX_JSON_VALUES) throw tooMany(MAX_JSON_VALUES, 'values')
  if (names > MAX_JSON_NAMES) throw tooMany(MAX_JSON_NAMES, 'names')
  const value = parsed(text)
  if (typeof value !== 'object' || value === null)
    throw invalid('', 'The body must be a JSON object.', 'must be an object')
  checkValue(value, '', 0)
  return value
}

const parsed = (text: string): unknown => {
  try {
    return parse(text)
  } catch (error) {
    throw new NotJson(`The body is not valid JSON: ${(error as Error).message}.`, 'is not valid JSON')
  }
}

/**
 * The most values and the number of names that a JSON text can hold. Counting marks between strings costs a fraction of
 * parsing, which takes a quarter of a second for a megabyte of names.
 */
const countsOf = (text: string): { values: number; names: number } => {
  let values = 1
  let names = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isInString = !isInString
    else if (isInString) at += code === BACKSLASH ? 1 : 0
    else if (code === COMMA || code === BRACE || code === BRACKET) values++
    else if (code === COLON) names++
  }
  return { values, names }
}

const [QUOTE, BACKSLASH, COMMA, COLON, BRACE, BRACKET] = [0x22, 0x5c, 0x2c, 0x3a, 0x7b, 0x5b]

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

const tooMany = (limit: number, noun: string) =>
  invalid('', `The body has more than ${limit} ${noun}.`, `has more than ${limit} ${noun}`)

const invalid = (path: string, message: string, fault: string) =>
  new ApiError('invalid_request', message, { errors: [{ path: path.slice(0, 200), message: fault }] })
