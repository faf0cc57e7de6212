import { type Static, type TSchema, Type } from 'typebox'

/** A shape with its description and examples for client developers. */
export const about = <Shape extends TSchema>(shape: Shape, description: string, ...examples: Static<Shape>[]): Shape =>
  Type.With(shape, { description, ...(examples.length > 0 && { examples }) }) as unknown as Shape

/** The same shape, which another place describes. */
export const untold = <Shape extends TSchema>(shape: Shape): Shape => {
  const {
    description: _,
    examples: __,
    ...others
  } = Object.getOwnPropertyDescriptors<TSchema>(shape) as PropertyDescriptorMap
  return Object.defineProperties({}, others) as Shape
}

/** Whether the property or header with this shape is optional. */
export const isOptional = (shape: TSchema): boolean => Type.IsOptional(shape)
