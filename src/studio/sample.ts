type Schema = Record<string, unknown>

/** Deeper schemas are rare, and a schema may be nested as deep as its client likes. */
const MAX_DEPTH = 8

/** A value for a JSON Schema: of its type, and with what it requires. It only shows that the schema arrived. */
export function sampleOf(schema: unknown, depth = 0): unknown {
  const { type, enum: choices, const: only, properties, required, items, anyOf } = Object(schema) as Schema
  if (only !== undefined) return only
  if (Array.isArray(choices)) return choices[0]
  if (Array.isArray(anyOf)) return sampleOf(anyOf[0], depth)
  if (depth > MAX_DEPTH) return null
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return 'sandbox'
    case 'integer':
    case 'number':
      return Number(Object(schema).minimum ?? 1)
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return items === undefined ? [] : [sampleOf(items, depth + 1)]
    default: {
      const names = Array.isArray(required) ? required : []
      const declared = Object(properties) as Schema
      return Object.fromEntries(names.map(name => [name, sampleOf(declared[name], depth + 1)]))
    }
  }
}
