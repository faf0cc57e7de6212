import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import type { ContentPart, Message } from '../../../schemas/conversation.ts'

/** Parameters of an input whose values a binding cannot honour together. */
export interface Unmet {
  parameters: string[]
  /** The bound that the value breaks, if there is one parameter. */
  bound?: Bound
}

export interface Bound {
  keyword: 'minLength' | 'maxLength' | 'maximum'
  limit: number
}

type Mapping = Pick<Binding, 'parameters' | 'constants' | 'refuses'>

/**
 * An input in the words of a provider. Nothing of it is dropped: a parameter without a rule, or with a value that no
 * rule allows, is unmet.
 */
export const upstreamParameters = (
  { parameters: rules, constants = {}, refuses = [] }: Mapping,
  input: Record<string, unknown>,
): { parameters: Record<string, unknown> } | { unmet: Unmet } => {
  const refused = refuses.find(values =>
    Object.entries(values).every(([name, value]) => [value].flat().includes(input[name] as string)),
  )
  if (refused) return { unmet: { parameters: Object.keys(refused) } }
  const parameters: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(constants)) put(parameters, path, value)
  const left = new Set(Object.keys(input))
  for (const rule of rules) {
    const names = Array.isArray(rule.from) ? rule.from : [rule.from]
    const given = names.filter(name => input[name] !== undefined)
    for (const name of given) left.delete(name)
    if (given.length === 0) continue
    if (given.length === 1 && rule.omit?.includes(input[given[0] as string] as string)) continue
    const bound = brokenBound(rule, input[given[0] as string])
    if (bound) return { unmet: { parameters: given, bound } }
    const value = upstreamValue(rule, input)
    if (value === undefined) return { unmet: { parameters: given } }
    if (rule.to !== undefined) put(parameters, rule.to, inForm(rule, value))
  }
  return left.size > 0 ? { unmet: { parameters: [...left] } } : { parameters }
}

/** Undefined for a value that the rule does not allow. */
const upstreamValue = (rule: ParameterRule, input: Record<string, unknown>): unknown => {
  const { from, values, only } = rule
  const value = Array.isArray(from) ? from.map(name => input[name]).join(' ') : input[from]
  if (only && !only.includes(value as string)) return undefined
  if (!values) return value
  return Object.hasOwn(values, String(value)) ? values[String(value)] : undefined
}

/** Rules of several parameters have no bounds. */
const brokenBound = (rule: ParameterRule, value: unknown): Bound | undefined => {
  const [minLength = 0, maxLength = Number.POSITIVE_INFINITY] = [rule.minLength, rule.maxLength]
  const { maximum = Number.POSITIVE_INFINITY } = rule
  if (typeof value === 'number' && value > maximum) return { keyword: 'maximum', limit: maximum }
  if (typeof value !== 'string') return undefined
  if (value.length < minLength) return { keyword: 'minLength', limit: minLength }
  return value.length > maxLength ? { keyword: 'maxLength', limit: maxLength } : undefined
}

const inForm = ({ as }: ParameterRule, value: unknown): unknown => {
  switch (as) {
    case undefined:
      return value
    case 'string':
      return String(value)
    case 'list':
      return [value]
    case 'file':
      return { fileUrl: value }
    case 'files':
      return [{ fileUrl: value }]
    case 'messages':
      return (value as Message[]).map(withFiles)
  }
}

const withFiles = ({ content, ...message }: Message) => ({
  ...message,
  ...(content !== undefined && { content: Array.isArray(content) ? content.map(partWithFile) : content }),
})

const partWithFile = (part: ContentPart) =>
  part.type === 'image_url' ? { ...part, image_url: { fileUrl: part.image_url.url } } : part

/** Paths are separated by dots. */
const put = (target: Record<string, unknown>, path: string, value: unknown) => {
  const names = path.split('.')
  const last = names.pop() as string
  let place = target
  for (const name of names) {
    place[name] ??= {}
    place = place[name] as Record<string, unknown>
  }
  place[last] = value
}
