import { type Static, type TSchema, Type } from 'typebox'

/** A shape with what those who write clients should know of it. */
export const about = <Shape extends TSchema>(shape: Shape, description: string, ...examples: Static<Shape>[]): Shape =>
  Type.With(shape, { description, ...(examples.length > 0 && { examples }) }) as unknown as Shape

/** Whether what has the shape may be left out. */
export const isOptional = (shape: TSchema): boolean => Type.IsOptional(shape)
