import { decimal } from '../parts/text.ts'
import { referenceOf, resolved, type Schema, type Schemas } from './api-document.ts'

/** The type of a value in a word or two: `string`, `list of Run`, `"run"`; empty if any value will do. */
export const typeOf = (schema: Schema, schemas: Schemas): string => {
  const name = referenceOf(schema)
  const { type, const: fixed, enum: values, items, anyOf, oneOf, contentMediaType, format } = resolved(schema, schemas)
  if (fixed !== undefined) return JSON.stringify(fixed)
  if (contentMediaType !== undefined) return 'file'
  if (type === 'array') {
    const of = items ? typeOf(items, schemas) : ''
    return of === '' ? 'list' : `list of ${of}`
  }
  if (name !== undefined && type === 'object') return name
  if (values && type === undefined) return typeof values[0]
  if (format === 'date-time') return 'time'
  if (format === 'uri') return 'URL'
  if (type !== undefined) return [type].flat().join(' or ')
  const choices = anyOf ?? oneOf
  if (choices) return [...new Set(choices.map(choice => typeOf(choice, schemas)))].join(' or ')
  return ''
}

/** What a schema limits, in words: `1 to 64 characters`, `at least 0`. */
export const limitsOf = (schema: Schema): string[] => {
  const of = (keyword: string) => {
    const value = schema[keyword]
    return typeof value === 'number' ? value : undefined
  }
  const { uniqueItems, multipleOf, pattern } = schema
  return [
    range(of('minLength'), of('maxLength'), 'character'),
    range(of('minItems'), of('maxItems'), 'item'),
    range(of('minProperties'), of('maxProperties'), 'member'),
    range(of('minimum'), of('maximum')),
    of('exclusiveMinimum') !== undefined && `more than ${decimal(of('exclusiveMinimum') as number)}`,
    of('exclusiveMaximum') !== undefined && `less than ${decimal(of('exclusiveMaximum') as number)}`,
    typeof multipleOf === 'number' && `in steps of ${decimal(multipleOf)}`,
    uniqueItems === true && 'no item twice',
    typeof pattern === 'string' && pattern.length <= MAX_PATTERN && `pattern ${pattern}`,
  ].filter(limit => typeof limit === 'string')
}

/** Longer patterns tell people nothing. */
const MAX_PATTERN = 60

const range = (min: number | undefined, max: number | undefined, unit?: string): string | undefined => {
  const units = unit === undefined ? '' : ` ${unit}${(max ?? min) === 1 ? '' : 's'}`
  if (min !== undefined && max !== undefined)
    return min === max ? `exactly ${decimal(min)}${units}` : `${decimal(min)} to ${decimal(max)}${units}`
  if (min !== undefined) return `at least ${decimal(min)}${units}`
  return max === undefined ? undefined : `at most ${decimal(max)}${units}`
}
