import type { ParametersSchema } from '../../../../schemas/catalog.ts'

/**
 * The values of a form, in which numbers and truth values arrive as text. Parameters that the model lacks may be any.
 * Each member of `metadata` arrives on its own, as `metadata[name]`.
 */
export const typedTexts = (texts: Record<string, string>, { properties }: ParametersSchema) => {
  const fields = Object.entries(texts)
  const metadata = fields.flatMap(([field, text]) => {
    const name = nameIn(field)
    return name === undefined ? [] : [[name, text]]
  })
  const others = fields.flatMap(([field, text]) => {
    if (nameIn(field) !== undefined) return []
    const isText = TEXTS.includes(field) || properties[field]?.['type'] === 'string'
    return [[field, isText ? text : typed(text)]]
  })
  return Object.fromEntries([...others, ...(metadata.length > 0 ? [['metadata', Object.fromEntries(metadata)]] : [])])
}

const TEXTS = ['model', 'prompt', 'size', 'response_format', 'user']

const nameIn = (field: string): string | undefined => /^metadata\[(.+)\]$/s.exec(field)?.[1]

/** Longer numbers could be rounded. */
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/

/** Clients write null as text too. */
const typed = (text: string): unknown => {
  if (NUMBER.test(text)) return Number(text)
  return text === 'true' || text === 'false' || text === 'null' ? JSON.parse(text) : text
}
