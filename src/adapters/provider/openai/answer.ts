import type { Failed, Work } from '../../../ports/provider.ts'

/** The parsed answer. The client returns text, if a proxy answers in place of the API. */
export const objectIn = <Shape extends object>(answer: Shape): Partial<Shape> => {
  if (typeof answer !== 'object' || answer === null) throw new Error('the answer of OpenAI is not a JSON object')
  return answer
}

/** The model's version and the used quantities, such as `input_tokens_details.image_tokens`. */
export const workOf = ({ model, usage }: { model?: unknown; usage?: unknown }): { work?: Work } => {
  const units = quantitiesIn(usage)
  const work: Work = {
    ...(typeof model === 'string' && model !== '' && { version: model.slice(0, MAX_VERSION_LENGTH) }),
    ...(Object.keys(units).length > 0 && { units }),
  }
  return Object.keys(work).length > 0 ? { work } : {}
}

/** Far more than any id of a model has; some servers answer with a path. */
const MAX_VERSION_LENGTH = 200

const quantitiesIn = (usage: unknown, prefix = ''): Record<string, number> => {
  if (typeof usage !== 'object' || usage === null) return {}
  const found: Record<string, number> = {}
  for (const [name, value] of Object.entries(usage)) {
    if (Number.isFinite(value) && value >= 0) found[prefix + name] = value
    else if (prefix === '') Object.assign(found, quantitiesIn(value, `${name}.`))
  }
  return found
}

export const failed = (code: Failed['code'], message: string, work: { work?: Work } = {}): Failed => ({
  kind: 'failed',
  code,
  message,
  ...work,
})
