import type { Family, ParametersSchema } from '../../../schemas/catalog.ts'
import { MAX_JSON_DEPTH } from '../../../schemas/primitives.ts'
import type { FamilyFault } from '../../domain/catalog/validity.ts'
import { isNestedWithin } from '../../json/levels.ts'
import { compileFault } from '../schema-check.ts'

/** The reason why the inputs of a family cannot be checked, in the validator's words; undefined if they can be. */
export const findSchemaFault = ({ endpoints }: Family): FamilyFault | undefined => {
  for (const { id, parametersSchema } of endpoints) {
    const reason = endpointFault(parametersSchema)
    if (reason !== undefined) return { id, code: 'schema_unusable', reason }
  }
  return undefined
}

const endpointFault = (schema: ParametersSchema): string | undefined => {
  for (const [name, declared] of Object.entries(schema.properties)) {
    const fault = partFault({ type: 'object', properties: { [name]: declared } })
    if (fault !== undefined) return `of ${name} ${fault}`
  }
  return partFault(schema)
}

const partFault = (schema: object): string | undefined => {
  if (!isNestedWithin(MAX_JSON_DEPTH, schema)) return `is nested deeper than ${MAX_JSON_DEPTH} levels`
  const word = foreignWord(schema)
  if (word !== undefined) return `may not use ${word}, because other documents contain it`
  const fault = compileFault(schema)
  if (fault !== undefined) return `is not valid: ${fault}`
  const pattern = patternsIn(schema).find(pattern => !isPortable(pattern))
  return pattern && `may not use the pattern ${pattern}, because clients in other languages read it differently`
}

/**
 * A keyword with another meaning inside another document, such as the OpenAPI document. `$async` would even make a
 * validator accept every input.
 */
const foreignWord = (schema: object): string | undefined => /"(\$(?!comment")\w+)":/.exec(JSON.stringify(schema))?.[1]

/** Keywords whose values are not schemas. */
const VALUES = new Set(['examples', 'default', 'const', 'enum'])

/** All patterns in a schema. */
export const patternsIn = (schema: unknown): string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap(patternsIn)
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (VALUES.has(keyword)) return []
    if (keyword === 'pattern' && typeof value === 'string') return [value]
    // The names of properties are parameters. The names of pattern properties are patterns.
    if (keyword === 'properties') return patternsIn(Object.values(value))
    if (keyword === 'patternProperties') return [...Object.keys(value), ...patternsIn(Object.values(value))]
    return patternsIn(value)
  })
}

/**
 * Whether ECMA-262 without flags, Python's `re`, RE2 and Rust's `regex` read a pattern alike. Abbreviations such as
 * `\d` and `.` differ between them, and only some support lookarounds. Without flags, JavaScript reads an emoji as two
 * characters, so a negated class must repeat.
 */
export const isPortable = (pattern: string): boolean => PORTABLE.test(pattern)

const HEX = '\\\\x[0-9A-Fa-f]{2}|\\\\[tnrfv]'
/** Some engines read two of these characters as a class operation. */
const MEMBER = `(?!--|&&|~~|\\|\\|)(?:[^\\\\\\[\\]^\\ud800-\\udfff]|${HEX}|\\\\[\\\\\\[\\]^-])`
const CLASS = `\\[(?:${MEMBER})+\\]|\\[\\^(?:${MEMBER})+\\][*+]`
const LITERAL = `[^\\\\.[\\](){}*+?|^$\\ud800-\\udfff]|${HEX}|\\\\[\\\\.[\\](){}*+?|^$/]`
/** RE2 repeats at most a thousand times. */
const QUANTIFIER = '[*+?]|\\{(?:\\d{1,3}|1000)(?:,(?:\\d{1,3}|1000)?)?\\}'
const PORTABLE = new RegExp(`^(?:${CLASS}|${LITERAL}|${QUANTIFIER}|\\((?:\\?:|(?!\\?))|[)|^$])*$`)
