import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import type { Fault } from '../../schemas/api/error.ts'

/** Says what is wrong with a value; an empty list when nothing is. */
export type Check = (value: unknown) => Fault[]

const shapes = new Ajv2020({ strict: true, allowUnionTypes: true, discriminator: true })
// Errors are verbose so that they have the schema beside them, whose description people understand better than its pattern.
const thorough = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, verbose: true })
const filling = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, useDefaults: true })
const converting = new Ajv2020({ strict: true, allErrors: true, useDefaults: true, coerceTypes: true })

/** Whether a value has a shape, for paths where only the answer matters. */
export const compileGuard = <Shape extends TSchema>(shape: Shape): ValidateFunction<Static<Shape>> =>
  shapes.compile<Static<Shape>>(shape)

/** Every fault of a value against a shape. */
export const compileCheck = (shape: object): Check => toCheck(thorough.compile(shape))

/** Every fault of a value against a schema, whose defaults are filled into the value itself. */
export const compileFillingCheck = (schema: object): Check => toCheck(filling.compile(schema))

/** Like compileFillingCheck, for values that came as text: numbers are read from it. */
export const compileConvertingCheck = (schema: object): Check => toCheck(converting.compile(schema))

/** Faults that are told of one value. Whoever has more is helped by the first. */
const MAX_FAULTS = 50

const toCheck =
  (validate: ValidateFunction): Check =>
  value =>
    validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_FAULTS).map(toFault)

const toFault = ({ instancePath, keyword, params, message, parentSchema }: ErrorObject): Fault => {
  switch (keyword) {
    case 'required':
      return { path: `${instancePath}/${toPointerPart(params['missingProperty'])}`, message: 'is required' }
    case 'additionalProperties':
      return { path: `${instancePath}/${toPointerPart(params['additionalProperty'])}`, message: 'is not known' }
    case 'enum':
      return { path: instancePath, message: `must be one of ${params['allowedValues'].join(', ')}` }
    case 'pattern':
      if (typeof parentSchema?.['description'] === 'string')
        return { path: instancePath, message: `must be as described: ${parentSchema['description']}` }
      return { path: instancePath, message: message ?? 'must match a pattern' }
    default:
      return { path: instancePath, message: message ?? `breaks the rule ${keyword}` }
  }
}

/** A name as a part of a JSON Pointer (RFC 6901). */
export const toPointerPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
