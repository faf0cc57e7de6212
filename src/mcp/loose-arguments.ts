import type { TObject, TSchema } from 'typebox'
import { isOptional } from '../../schemas/api/about.ts'
import { NotJson, parseBounded } from '../http/bodies/bounded-json.ts'

type Arguments = Record<string, unknown>

/**
 * Arguments in the form that a tool expects. Some language models write an object as JSON text, and an empty string for
 * an address that they mean to omit.
 */
export const looseArguments = (args: unknown, { properties }: TObject): unknown => {
  if (!isObject(args)) return args
  const read = Object.entries(args).flatMap(([name, value]): [string, unknown][] => {
    const shape: Shape | undefined = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (shape?.type === 'object') return [[name, objectOf(name, value)]]
    return value === '' && isAddress(name) && shape && isOptional(shape) ? [] : [[name, value]]
  })
  return Object.fromEntries(read)
}

type Shape = TSchema & { type?: unknown }

const objectOf = (name: string, value: unknown): unknown => {
  const object = typeof value === 'string' ? parsed(value, `/${name}`) : value
  return name === 'input' && isObject(object) ? withoutEmptyAddresses(object) : object
}

const withoutEmptyAddresses = (input: Arguments): Arguments =>
  Object.fromEntries(Object.entries(input).filter(([name, value]) => value !== '' || !isAddress(name)))

/** Whether a parameter holds an address, such as `image_url`. An endpoint refuses an input without a required one. */
const isAddress = (name: string) => name.endsWith('_url')

/** The object in a text, or the text if it holds none. Throws invalid_request for an object beyond the bounds. */
const parsed = (text: string, at: string): unknown => {
  try {
    const object = parseBounded(text, at)
    return Array.isArray(object) ? text : object
  } catch (error) {
    if (error instanceof NotJson || !text.trimStart().startsWith('{')) return text
    throw error
  }
}

const isObject = (value: unknown): value is Arguments =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A message without `arguments: null`, which some clients send for a tool without arguments. */
export const withoutNullArguments = (message: unknown): unknown => {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { arguments?: unknown } }
  if (method !== 'tools/call' || params?.arguments !== null) return message
  const { arguments: _, ...others } = params
  return { ...(message as object), params: others }
}
