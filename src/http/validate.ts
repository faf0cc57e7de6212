import type { Static, TSchema } from 'typebox'
import { ApiError } from '../engine/api-error.ts'
import { compileCheck } from '../engine/validator.ts'

/** A reader of request parts: gives the value its type, or throws invalid_request with the places of the faults. */
export const expect = <Shape extends TSchema>(shape: Shape, what: string): ((value: unknown) => Static<Shape>) => {
  const check = compileCheck(shape)
  return value => {
    const errors = check(value)
    if (errors.length > 0) {
      const first = errors.map(({ path, message }) => `${path || '/'} ${message}`)[0]
      throw new ApiError('invalid_request', `The ${what} is not as it should be: ${first}.`, { errors })
    }
    return value as Static<Shape>
  }
}
