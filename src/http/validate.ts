import type { Static, TSchema } from 'typebox'
import { compileCheck } from '../engine/validator.ts'
import { ApiError } from '../services/api-error.ts'

/** A reader of request parts: gives the value its type, or throws invalid_request with the places of the faults. */
export const readerOf = <Shape extends TSchema>(shape: Shape, what: string): ((value: unknown) => Static<Shape>) => {
  const check = compileCheck(shape)
  return value => {
    const errors = check(value)
    const [first] = errors
    if (!first) return value as Static<Shape>
    const message = `The ${what} is not as it should be: ${first.path || '/'} ${first.message}.`
    throw new ApiError('invalid_request', message, { errors })
  }
}
