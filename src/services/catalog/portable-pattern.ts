/** Keywords whose values are not schemas. */
const VALUES = new Set(['examples', 'default', 'const', 'enum'])

/** The patterns in a schema, wherever they are. */
export const patternsIn = (schema: unknown): string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap(patternsIn)
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (VALUES.has(keyword)) return []
    if (keyword === 'pattern' && typeof value === 'string') return [value]
    // The names in these are parameters, or patterns themselves.
    if (keyword === 'properties') return patternsIn(Object.values(value))
    if (keyword === 'patternProperties') return [...Object.keys(value), ...patternsIn(Object.values(value))]
    return patternsIn(value)
  })
}

/**
 * Whether clients in all languages read a pattern alike: ECMA-262 without flags, Python's `re`, RE2 and Rust's `regex`.
 * Abbreviations such as `\d` and `.` mean something else in each, and only some support lookarounds. Without flags,
 * JavaScript reads an emoji as two characters, so a negated class must repeat.
 */
export const isPortable = (pattern: string): boolean => PORTABLE.test(pattern)

const HEX = '\\\\x[0-9A-Fa-f]{2}|\\\\[tnrfv]'
/** Some read two of these signs as an operation on classes. */
const MEMBER = `(?!--|&&|~~|\\|\\|)(?:[^\\\\\\[\\]^\\ud800-\\udfff]|${HEX}|\\\\[\\\\\\[\\]^-])`
const CLASS = `\\[(?:${MEMBER})+\\]|\\[\\^(?:${MEMBER})+\\][*+]`
const LITERAL = `[^\\\\.[\\](){}*+?|^$\\ud800-\\udfff]|${HEX}|\\\\[\\\\.[\\](){}*+?|^$/]`
/** RE2 repeats at most a thousand times. */
const QUANTIFIER = '[*+?]|\\{(?:\\d{1,3}|1000)(?:,(?:\\d{1,3}|1000)?)?\\}'
const PORTABLE = new RegExp(`^(?:${CLASS}|${LITERAL}|${QUANTIFIER}|\\((?:\\?:|(?!\\?))|[)|^$])*$`)
