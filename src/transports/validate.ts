import type { Static, TSchema } from 'typebox'
import { isOptional } from '../../schemas/api/about.ts'
import { isNameShape, normalized } from '../../schemas/names.ts'
import { compileCheck, withoutNulls } from '../services/schema-check.ts'
import { ApiError } from './api-error.ts'

/**
 * Returns a function that gives a part of a request its type, or throws invalid_request with the faults. An optional
 * field may be null, and is then left out. Names are normalized.
 */
export const readerOf = <Shape extends TSchema>(shape: Shape, part: string): ((value: unknown) => Static<Shape>) => {
  const check = compileCheck(shape)
  const { properties = {} } = shape as { properties?: Record<string, TSchema> }
  const names = Object.keys(properties).filter(name => isNameShape(properties[name] as TSchema))
  const isOptionalField = (name: string) => isOptionalIn(shape, name)
  return given => {
    const value = isObject(given) ? withNames(names, withoutNulls(given, isOptionalField)) : given
    const errors = check(value)
    const [first] = errors
    if (!first) return value as Static<Shape>
    const message = `Invalid ${part}: ${first.path || '/'} ${first.message}.`
    throw new ApiError('invalid_request', message, { errors })
  }
}

/** Normalizes names before they are counted, compared or stored. */
const withNames = (names: string[], value: Record<string, unknown>) => {
  for (const name of names) if (typeof value[name] === 'string') value[name] = normalized(value[name])
  return value
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isOptionalIn = (shape: { properties?: Record<string, TSchema> }, name: string): boolean =>
  shape.properties !== undefined &&
  Object.hasOwn(shape.properties, name) &&
  isOptional(shape.properties[name] as TSchema)
