import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import type { Fault } from '../../schemas/api/error.ts'

/** Says what is wrong with a value; an empty list when nothing is. */
export type Check = (value: unknown) => Fault[]

const shapes = new Ajv2020({ strict: true, allowUnionTypes: true, discriminator: true })
// Errors are verbose where the schema beside them says what people understand better.
const thorough = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, verbose: true })
const filling = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, verbose: true, useDefaults: true })
const converting = new Ajv2020({ strict: true, allErrors: true, useDefaults: true, coerceTypes: true })

/** Whether a value has a shape, for paths where only the answer matters. */
export const compileGuard = <Shape extends TSchema>(shape: Shape): ValidateFunction<Static<Shape>> =>
  shapes.compile<Static<Shape>>(shape)

/** Every fault of a value against a shape. */
export const compileCheck = (shape: object): Check => toCheck(() => thorough.compile(shape))

/** Every fault of a value against a schema, whose defaults are filled into the value itself. */
export const compileFillingCheck = (schema: object): Check => toCheck(() => filling.compile(schema))

/** Like compileFillingCheck, for values that came as text: numbers are read from it. */
export const compileConvertingCheck = (schema: object): Check => toCheck(() => converting.compile(schema))

/** Faults that are told of one value. Whoever has more is helped by the first. */
const MAX_FAULTS = 50

/** What is compiled is so when it is first needed: no process needs all, and the commands of the operator are to start quickly. */
const toCheck = (compile: () => ValidateFunction): Check => {
  let validate: ValidateFunction | undefined
  return value => {
    validate ??= compile()
    return validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_FAULTS).map(toFault)
  }
}

const toFault = ({ instancePath, keyword, params, message, parentSchema }: ErrorObject): Fault => {
  switch (keyword) {
    case 'required':
      return { path: `${instancePath}/${toPointerPart(params['missingProperty'])}`, message: 'is required' }
    case 'additionalProperties':
      return { path: `${instancePath}/${toPointerPart(params['additionalProperty'])}`, message: unknown(parentSchema) }
    case 'enum':
      return { path: instancePath, message: `must be one of ${params['allowedValues'].join(', ')}` }
    case 'pattern':
      return { path: instancePath, message: words(parentSchema) ?? 'must have another form' }
    case 'type':
      return { path: instancePath, message: params['type'] === 'boolean' ? 'must be true or false' : (message ?? '') }
    default:
      return { path: instancePath, message: message ?? `breaks the rule ${keyword}` }
  }
}

/** More names than these help nobody. */
const MAX_NAMES = 20

const unknown = (parent: Record<string, unknown> | undefined): string => {
  const names = Object.keys((parent?.['properties'] as object | undefined) ?? {})
  return names.length > 0 && names.length <= MAX_NAMES ? `is not known; there are ${names.join(', ')}` : 'is not known'
}

/** What is said of a schema, where it is at hand: people understand it better than a pattern. Whoever repeats it ends the sentence. */
const words = (parent: Record<string, unknown> | undefined): string | undefined => {
  if (typeof parent?.['description'] === 'string')
    return `must be as described: ${parent['description'].replace(/\.$/, '')}`
  return parent && `must match the pattern ${parent['pattern']}`
}

/** A name as a part of a JSON Pointer (RFC 6901). */
export const toPointerPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
