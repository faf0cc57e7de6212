import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { nameFormats } from '../../schemas/names.ts'
import { plural } from '../domain/plural.ts'

/** One fault of a value: a JSON Pointer to it, and a description. */
interface Fault {
  path: string
  message: string
}

/** Returns the faults of a value; an empty list if it is valid. */
export type Check = (value: unknown) => Fault[]

/** The formats of names, and formats that only describe values. */
const formats = { ...nameFormats, uri: true, 'uri-reference': true } as const

// Verbose errors include the schema. Its description explains a fault better than a pattern.
const explaining = {
  ...{ strict: true, allowUnionTypes: true, allErrors: true, verbose: true, formats },
  // An alternative of `oneOf` requires a parameter that the schema around it declares.
  strictRequired: false,
}
// Compiling the meta-schema would block the first request for a tenth of a second. Only schemas from outside need it,
// and they are checked when they are published.
const known = { validateSchema: false }
const thorough = new Ajv2020({ ...explaining, ...known })
const filling = new Ajv2020({ ...explaining, ...known, useDefaults: true })
const converting = new Ajv2020({ ...known, strict: true, allErrors: true, useDefaults: true, coerceTypes: true })
const publishing = new Ajv2020({ ...explaining, useDefaults: true })

/** Checks a value against a shape. */
export const compileCheck = (shape: object): Check => toCheck(() => thorough.compile(shape))

/** Checks a value against a schema, and fills the schema's defaults into the value. */
export const compileFillingCheck = (schema: object): Check => toCheck(() => filling.compile(schema))

/** The reason why `compileFillingCheck` cannot compile a schema; undefined if it can. */
export const compileFault = (schema: object): string | undefined => {
  try {
    publishing.compile(schema)
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    publishing.removeSchema(schema)
  }
}

/** Like compileFillingCheck, for values from texts: converts numbers and booleans. */
export const compileConvertingCheck = (schema: object): Check => toCheck(() => converting.compile(schema))

/** The most faults to report of a value. Readers fix the first faults first. */
const MAX_FAULTS = 50

/** The longest path to report. A name of the client may have as many characters as a body, and errors repeat it. */
export const MAX_PATH_LENGTH = 1_000

/** Compiles at first use: no process needs every schema, and commands must start quickly. */
const toCheck = (compile: () => ValidateFunction): Check => {
  let validate: ValidateFunction | undefined
  return value => {
    validate ??= compile()
    return validate(value)
      ? []
      : withoutRedundant(validate.errors ?? [])
          .slice(0, MAX_FAULTS)
          .map(toFault)
          .map(({ path, message }) => ({ path: path.slice(0, MAX_PATH_LENGTH), message }))
  }
}

/** Drops the fault of a type if another fault lists the valid values, and faults of the parts of a choice. */
const withoutRedundant = (errors: ErrorObject[]): ErrorObject[] => {
  const listed = new Set(errors.filter(({ keyword }) => keyword === 'enum').map(({ instancePath }) => instancePath))
  return errors.filter(
    ({ keyword, instancePath, schemaPath }) =>
      (keyword !== 'type' || !listed.has(instancePath)) && !/\/oneOf\/\d+\/required$/.test(schemaPath),
  )
}

const toFault = ({ instancePath, keyword, params, message, parentSchema }: ErrorObject): Fault => {
  switch (keyword) {
    case 'required':
      return { path: `${instancePath}/${toPointerPart(params['missingProperty'])}`, message: 'is required' }
    case 'oneOf':
      return choiceFault(instancePath, params['passingSchemas'], parentSchema)
    case 'additionalProperties':
      return { path: `${instancePath}/${toPointerPart(params['additionalProperty'])}`, message: unknown(parentSchema) }
    case 'enum':
      return { path: instancePath, message: `must be one of ${params['allowedValues'].join(', ')}` }
    case 'pattern':
      return { path: instancePath, message: words(parentSchema) ?? 'must be in the right format' }
    case 'format':
      return { path: instancePath, message: words(parentSchema) ?? `must have the format ${params['format']}` }
    default:
      return { path: instancePath, message: plainWords[keyword]?.(params) ?? message ?? `breaks the rule ${keyword}` }
  }
}

/** The fault of an object that has none of several members, or more than one. */
const choiceFault = (path: string, passing: number[] | null, parent: Record<string, unknown> = {}): Fault => {
  const names = (parent['oneOf'] as { required?: string[] }[]).map(({ required = [] }) => required[0] ?? '')
  const [first, ...others] = names
  if (!passing) return { path: `${path}/${first}`, message: `is required, or ${others.join(' or ')}` }
  const [one = 0, two = 0] = passing
  return { path: `${path}/${names[two]}`, message: `cannot stand beside ${names[one]}; send only one of them` }
}

/** Texts for keywords with a limit or a single value. */
const plainWords: Record<string, (params: ErrorObject['params']) => string> = {
  type: ({ type }) => `must be ${[type].flat().map(nameOfType).join(' or ')}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${multipleOf}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `must be greater than ${limit}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${limit}`,
  minLength: ({ limit }) => `must have at least ${plural(limit, 'character')}`,
  maxLength: ({ limit }) => `must have at most ${plural(limit, 'character')}`,
  minItems: ({ limit }) => `must have at least ${plural(limit, 'item')}`,
  maxItems: ({ limit }) => `must have at most ${plural(limit, 'item')}`,
}

/** The text for a value beyond a limit. */
export const describeLimit = (keyword: 'minLength' | 'maxLength' | 'maximum', limit: number): string =>
  plainWords[keyword]?.({ limit }) ?? ''

const nameOfType = (type: string): string => TYPES[type] ?? type

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
}

/** Longer lists of names do not help readers. */
const MAX_NAMES = 20

const unknown = (parent: Record<string, unknown> | undefined): string => {
  const names = Object.keys((parent?.['properties'] as object | undefined) ?? {})
  if (names.length === 0) return `is unknown; ${lowerFirst(textOf(parent) ?? 'nothing is expected')}`
  return names.length <= MAX_NAMES ? `is unknown; expected one of ${names.join(', ')}` : 'is unknown'
}

/**
 * Explains the expected value by the schema's description, if it is a noun, or else by the pattern, if there is one.
 */
const words = (parent: Record<string, unknown> | undefined): string | undefined => {
  const described = textOf(parent) ?? ''
  if (/^(An?|The) /.test(described)) return `must be ${lowerFirst(described)}`
  return parent?.['pattern'] === undefined ? undefined : `must match the pattern ${parent['pattern']}`
}

/** The description of a schema. Callers add the period. */
const textOf = (schema: Record<string, unknown> | undefined): string | undefined =>
  typeof schema?.['description'] === 'string' ? schema['description'].replace(/\.$/, '') : undefined

/** The text with a lower-case first letter, for use within a sentence. */
export const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** Escapes a name for a JSON Pointer (RFC 6901). */
export const toPointerPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** An object without its null members. Clients in some languages send null for omitted members. */
export const withoutNulls = <Some extends object>(
  value: Some,
  isOptional: (name: string) => boolean = () => true,
): Some =>
  Object.fromEntries(Object.entries(value).filter(([name, member]) => member !== null || !isOptional(name))) as Some
