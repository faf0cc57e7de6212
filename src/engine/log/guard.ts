import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import { nameFormats } from '../../../schemas/names.ts'

const known = { discriminator: true, validateSchema: false, formats: nameFormats }
const shapes = new Ajv2020({ strict: true, allowUnionTypes: true, ...known })

/** Whether a value has a shape, where the faults do not matter. */
export const compileGuard = <Shape extends TSchema>(shape: Shape): ValidateFunction<Static<Shape>> =>
  shapes.compile<Static<Shape>>(shape)
