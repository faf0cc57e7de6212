import { isNameShape } from '../../../schemas/names.ts'
import { clientKeywords } from './client-schema.ts'
import { namedShapes } from './named-shapes.ts'

/**
 * Annotations describe one use of a shape, so shapes that differ only in them are the same. `format` is an annotation
 * in JSON Schema too: the API's Timestamp has one, and its copies in other shapes do not. The format of a name is a
 * rule.
 */
const splitAnnotations = (shape: object) => {
  const { description, examples, format, ...rest } = shape as Record<string, unknown>
  return { rest: isNameShape(shape) ? { ...rest, format } : rest, annotations: { description, examples } }
}

const textOf = (shape: object) => JSON.stringify(splitAnnotations(shape).rest)

/** Named shapes by their text. Identity does not work: TypeBox copies a shape to annotate it or make it optional. */
export const byText = (shapes: Record<string, object>): Map<string, { name: string; shape: object }> => {
  const known = new Map<string, { name: string; shape: object }>()
  for (const [name, shape] of Object.entries(shapes)) {
    const text = textOf(shape)
    const other = known.get(text)?.name
    if (other !== undefined) throw new Error(`${name} and ${other} are the same shape: ${text}`)
    known.set(text, { name, shape })
  }
  return known
}

const named = byText(namedShapes)

type ComponentType = 'parameters' | 'headers' | 'responses'

/** Replaces named shapes with references, and collects the components that they point to. */
export class Components {
  readonly schemas: Record<string, unknown> = {}
  readonly parameters: Record<string, unknown> = {}
  readonly headers: Record<string, unknown> = {}
  readonly responses: Record<string, unknown> = {}

  /** A shape as the document shows it: a reference if it has a name. */
  show(shape: object): unknown {
    const known = named.get(textOf(shape))
    if (!known) return this.#inside(shape)
    const { name, shape: origin } = known
    if (!(name in this.schemas)) {
      // Reserving the place first keeps the names in the order of their first use.
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

  /** A parameter or header: OpenAPI puts its description beside its schema. */
  showParameter(shape: object): object {
    const { description } = shape as { description?: string }
    const { description: _, ...schema } = this.show(shape) as { description?: string }
    return { ...(description !== undefined && { description }), schema }
  }

  /** Shares a component under its name. A different value under a taken name stays inline. */
  share(type: ComponentType, name: string, value: unknown): unknown {
    const kept = this[type]
    kept[name] ??= value
    return JSON.stringify(kept[name]) === JSON.stringify(value) ? { $ref: `#/components/${type}/${name}` } : value
  }

  #inside(shape: object): unknown {
    const shown = clientKeywords(shape).map(([key, value]) => [
      key,
      key === 'examples' && Array.isArray(value) ? value : this.#member(value),
    ])
    return Object.fromEntries(shown)
  }

  #member(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(item => this.#member(item))
    return typeof value === 'object' && value !== null ? this.show(value) : value
  }
}
