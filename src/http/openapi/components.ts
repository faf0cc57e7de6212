import { namedShapes } from './named-shapes.ts'

/**
 * Annotations are what is said of a shape where it is used, and do not make it another one. `format` counts among them, as in
 * JSON Schema itself: the document gives one to the Timestamp, whose copies in other shapes have none.
 */
const splitAnnotations = (shape: object) => {
  const { description, examples, format, ...rest } = shape as Record<string, unknown>
  return { rest, annotations: { description, examples } }
}

const textOf = (shape: object) => JSON.stringify(splitAnnotations(shape).rest)

/** Shapes with their names, by their text: one that is optional somewhere, or has annotations of its own there, is a copy. */
export const byText = (shapes: Record<string, object>): Map<string, { name: string; shape: object }> => {
  const known = new Map<string, { name: string; shape: object }>()
  for (const [name, shape] of Object.entries(shapes)) {
    const text = textOf(shape)
    const other = known.get(text)?.name
    if (other !== undefined) throw new Error(`${name} cannot be told from ${other}: both are ${text}`)
    known.set(text, { name, shape })
  }
  return known
}

const named = byText(namedShapes)

/** The pattern by which TypeBox writes a record. */
const ANY_NAME = '^.*$'

type ComponentType = 'parameters' | 'headers' | 'responses'

/** Puts references in the place of what has a name, and keeps what they lead to. */
export class Components {
  readonly schemas: Record<string, unknown> = {}
  readonly parameters: Record<string, unknown> = {}
  readonly headers: Record<string, unknown> = {}
  readonly responses: Record<string, unknown> = {}

  /** A shape as it stands in the document: by its name where it has one. */
  show(shape: object): unknown {
    const known = named.get(textOf(shape))
    if (!known) return this.#inside(shape)
    const { name, shape: origin } = known
    if (!(name in this.schemas)) {
      // Before what is inside, so that the names come in the order in which they are met.
      this.schemas[name] = undefined
      this.schemas[name] = this.#inside(origin)
    }
    const usual = splitAnnotations(origin).annotations
    const { description = usual.description, examples = usual.examples } = splitAnnotations(shape).annotations
    return {
      $ref: `#/components/schemas/${name}`,
      ...(description !== usual.description && { description }),
      ...(JSON.stringify(examples) !== JSON.stringify(usual.examples) && { examples }),
    }
  }

  /** A parameter or a header, whose description stands beside its schema. */
  showParameter(shape: object): object {
    const { description } = shape as { description?: string }
    const { description: _, ...schema } = this.show(shape) as { description?: string }
    return { ...(description !== undefined && { description }), schema }
  }

  /** Keeps something under a name. What has the name of something else stands where it is used. */
  share(type: ComponentType, name: string, value: unknown): unknown {
    const kept = this[type]
    kept[name] ??= value
    return JSON.stringify(kept[name]) === JSON.stringify(value) ? { $ref: `#/components/${type}/${name}` } : value
  }

  #inside(shape: object): unknown {
    const shown = Object.entries(shape).map(([key, value]) => {
      if (key === 'examples' && Array.isArray(value)) return [key, value]
      // Generators of clients know this better than a pattern that any name matches.
      if (key === 'patternProperties' && ANY_NAME in value)
        return ['additionalProperties', this.#member(value[ANY_NAME])]
      return [key, this.#member(value)]
    })
    return Object.fromEntries(shown)
  }

  #member(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(item => this.#member(item))
    return typeof value === 'object' && value !== null ? this.show(value) : value
  }
}
