import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'

const shapes = new Ajv2020({ strict: true, allowUnionTypes: true, discriminator: true, validateSchema: false })

/** Whether a value has a shape, where the faults do not matter. */
export const compileGuard = <Shape extends TSchema>(shape: Shape): ValidateFunction<Static<Shape>> =>
  shapes.compile<Static<Shape>>(shape)
