import type { TSchema } from 'typebox'

/** The levels of objects whose fields an outline names: a run and its output, or a list and its items. */
const DEPTH = 2

/**
 * The outline of a shape: names, types and choices, without descriptions and narrower rules. The outlines of all tools
 * take up room in the context of agents. Every value that matches the shape matches its outline.
 */
export const outline = (shape: TSchema, depth = DEPTH): TSchema => {
  const { type, enum: choices, properties, items } = shape as TSchema & Parts
  return {
    ...(type !== undefined && { type }),
    ...(choices && depth >= DEPTH - 1 && { enum: choices }),
    ...(properties &&
      depth > 0 && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, each]) => [name, outline(each, depth - 1)]),
        ),
      }),
    ...(items && { items: outline(items, depth) }),
  } as TSchema
}

interface Parts {
  type?: string
  enum?: unknown[]
  properties?: Record<string, TSchema>
  items?: TSchema
}
