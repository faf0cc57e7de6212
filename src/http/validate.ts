import type { Static, TSchema } from 'typebox'
import { compileCheck } from '../services/schema-check.ts'
import { ApiError } from './api-error.ts'

/** Returns a function that gives a part of a request its type, or throws invalid_request with the faults. */
export const readerOf = <Shape extends TSchema>(shape: Shape, what: string): ((value: unknown) => Static<Shape>) => {
  const check = compileCheck(shape)
  return value => {
    const errors = check(value)
    const [first] = errors
    if (!first) return value as Static<Shape>
    const message = `Invalid ${what}: ${first.path || '/'} ${first.message}.`
    throw new ApiError('invalid_request', message, { errors })
  }
}
