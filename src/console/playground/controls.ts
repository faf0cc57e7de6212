import type { ModelEndpoint } from '../../../schemas/api/model.ts'
import { MAX_JSON_DEPTH } from '../../../schemas/primitives.ts'
import { FILE_PARAMETERS, type FileKind, type FileParameter } from '../../domain/catalog/inputs.ts'
import { isNestedWithin } from '../../json/levels.ts'

/** An endpoint, as far as its form depends on it. */
export type FormEndpoint = Pick<ModelEndpoint, 'id' | 'kind' | 'parameters_schema'> & {
  pricing: Pick<ModelEndpoint['pricing'], 'quantities' | 'multipliers'>
}

export interface Option {
  value: string
  label: string
  /** For an aspect ratio or a size: the sides of the shape to draw. */
  shape?: { width: number; height: number }
}

/** How a person enters a parameter. */
export type ControlKind =
  | 'prose'
  | 'text'
  | 'json'
  | 'number'
  | 'stepper'
  | 'switch'
  | 'segments'
  | 'chips'
  | 'select'
  | 'file'

/** The control of a parameter. */
export interface Control {
  /** The name of the parameter. */
  name: string
  kind: ControlKind
  label: string
  /** What the parameter does, in a sentence or two. */
  description: string
  /** A few words beside the label. */
  hint?: string
  /** What the control shows: the text of a value, or `on` for a switch. */
  value: string
  options?: Option[]
  minimum?: number
  maximum?: number
  step?: number
  maxLength?: number
  fileKind?: FileKind
  isRequired: boolean
  /** Whether the control is behind “More options”. */
  isFurther: boolean
}

type Input = Record<string, unknown>
type Declared = Record<string, unknown>

/** More options than this are a list to open. */
const MAX_OPTIONS = 7

/** Segments stand side by side in the width of the form. */
const MAX_SEGMENTS_LENGTH = 24
const MAX_SEGMENTS = 4

/** Numbers with at most so many values have buttons for one more and one less. */
const MAX_STEPS = 24

/** Longer texts get several lines. */
const MAX_LINE_LENGTH = 200

/** What every form shows at once, besides files and what is required or changes the price. */
const PROMINENT = ['prompt', 'text', 'aspect_ratio', 'size', 'voice', 'voice_id', 'style', 'max_output_tokens']

/**
 * The controls of an endpoint for an input, in the order of the form: the text, the shape, what else changes the price
 * or the result, files, and further options. The files that select another endpoint of the family are among them.
 */
export const controlsOf = (endpoint: FormEndpoint, family: readonly FormEndpoint[], input: Input): Control[] => {
  const { properties, required = [], oneOf = [] } = endpoint.parameters_schema
  const priced = [...endpoint.pricing.quantities, ...Object.keys(endpoint.pricing.multipliers)]
  const own = Object.entries(properties)
    // A single choice is none.
    .filter(([, declared]) => optionsOf(declared)?.length !== 1)
    .map(([name, declared]): Control => {
      const isRequired = required.includes(name)
      const isAtHand = [...required, ...priced, ...PROMINENT].includes(name) || isFile(name)
      return {
        ...controlOf(name, declared, input),
        isRequired,
        isFurther: !isAtHand,
        ...(oneOf.some(each => each.required.includes(name)) && name === 'prompt' && { isRequired: false }),
      }
    })
  const others = otherFiles(endpoint, family).map(
    ([name, declared]): Control => ({
      ...controlOf(name, declared, input),
      hint: `optional, makes ${sourceName(FILE_PARAMETERS[name])} to ${resultName(endpoint.kind)}`,
      isRequired: false,
      isFurther: false,
    }),
  )
  return [...own, ...others].sort((one, other) => rank(one) - rank(other))
}

/** The files that the endpoint does not take, and another endpoint of the family does. */
const otherFiles = ({ parameters_schema: { properties } }: FormEndpoint, family: readonly FormEndpoint[]) =>
  (['image_url', 'video_url'] as const).flatMap((name): [FileParameter, Declared][] => {
    const declared = Object.hasOwn(properties, name)
      ? undefined
      : family.map(each => each.parameters_schema.properties[name]).find(each => each !== undefined)
    return declared ? [[name, declared]] : []
  })

const RANKS: readonly ((control: Control) => boolean)[] = [
  ({ name }) => name === 'prompt' || name === 'text',
  ({ kind }) => kind === 'chips',
  ({ kind }) => kind !== 'file' && kind !== 'switch',
  ({ kind }) => kind === 'switch',
]
const rank = (control: Control) => {
  const at = RANKS.findIndex(is => is(control))
  return (at === -1 ? RANKS.length : at) + (control.isFurther ? RANKS.length + 1 : 0)
}

const controlOf = (name: string, declared: Declared, input: Input): Omit<Control, 'isRequired' | 'isFurther'> => {
  const { title, description, minimum, maximum, multipleOf, maxLength } = declared
  const kind = kindOf(name, declared)
  const options = kind === 'switch' ? undefined : choicesOf(declared)
  const value = Object.hasOwn(input, name) ? input[name] : declared['default']
  return {
    name,
    kind,
    label: labelOf(name, title),
    description: String(description ?? ''),
    value: kind === 'switch' ? (value === true ? 'on' : '') : textOf(value),
    ...(options && { options }),
    ...(typeof minimum === 'number' && { minimum }),
    ...(typeof maximum === 'number' && { maximum }),
    ...(declared['type'] === 'integer' && { step: typeof multipleOf === 'number' ? multipleOf : 1 }),
    ...(typeof maxLength === 'number' && { maxLength }),
    ...(UNITS[name] && { hint: UNITS[name] }),
    ...(isFile(name) && { fileKind: FILE_PARAMETERS[name], ...roleOf(description) }),
  }
}

const kindOf = (name: string, declared: Declared): ControlKind => {
  const { type, minimum, maximum, maxLength } = declared
  if (isFile(name)) return 'file'
  if (isSwitch(declared)) return 'switch'
  const options = choicesOf(declared)
  if (options) return choiceKind(options)
  if (type === 'integer' && Number(maximum) - Number(minimum) < MAX_STEPS) return 'stepper'
  if (type === 'integer' || type === 'number') return 'number'
  if (type !== 'string') return 'json'
  return Number(maxLength ?? Number.POSITIVE_INFINITY) > MAX_LINE_LENGTH ? 'prose' : 'text'
}

const choiceKind = (options: readonly Option[]): ControlKind => {
  // Shapes are seen at a glance, also if there are many.
  if (options.some(({ shape }) => shape)) return 'chips'
  if (options.length > MAX_OPTIONS) return 'select'
  const length = options.reduce((sum, { label }) => sum + label.length, 0)
  return length <= MAX_SEGMENTS_LENGTH && options.length <= MAX_SEGMENTS ? 'segments' : 'chips'
}

const isFile = (name: string): name is FileParameter => Object.hasOwn(FILE_PARAMETERS, name)

/** A switch is on or off, so a parameter that may also be left out is a choice. */
const isSwitch = ({ type, default: byDefault }: Declared) => type === 'boolean' && byDefault !== undefined

const optionsOf = (declared: Declared): unknown[] | undefined => {
  if (Array.isArray(declared['enum'])) return declared['enum']
  return declared['type'] === 'boolean' ? [true, false] : undefined
}

const choicesOf = (declared: Declared): Option[] | undefined => {
  const values = optionsOf(declared)
  if (!values) return undefined
  const isShort = values.length <= MAX_OPTIONS
  const none: Option[] =
    declared['default'] === undefined ? [{ value: '', label: isShort ? 'Default' : 'Not set' }] : []
  return [...none, ...values.map(optionOf).sort((one, other) => placeOf(one) - placeOf(other))]
}

/** Shapes have one order in all families: square, then wider and wider, then higher and higher. */
const placeOf = ({ shape }: Option): number => {
  if (!shape) return 0
  const { width, height } = shape
  return width >= height ? width / height : HIGH + height / width
}

/** More than any shape is wider than it is high. */
const HIGH = 10_000

const optionOf = (value: unknown): Option => {
  const text = textOf(value)
  const [, width, height] = /^(\d{1,4})[:x](\d{1,4})$/.exec(text) ?? []
  return {
    value: text,
    label:
      value === true ? 'On' : value === false ? 'Off' : text.replaceAll('_', ' ').replace('x', height ? ' × ' : 'x'),
    ...(width && height && { shape: { width: Number(width), height: Number(height) } }),
  }
}

const LABELS: Readonly<Record<string, string>> = {
  num_images: 'Images',
  image_url: 'Image',
  end_image_url: 'Last image',
  video_url: 'Video',
}

/** The units of numbers whose names do not say them. */
const UNITS: Readonly<Record<string, string>> = { duration: 'seconds', max_output_tokens: 'tokens' }

const labelOf = (name: string, title: unknown) => LABELS[name] ?? String(title ?? name)

/** The part that a file plays, which its description begins with. */
const roleOf = (description: unknown): Pick<Control, 'hint'> => {
  const [, role] = /^The ([^:]{1,40}):/.exec(String(description)) ?? []
  return role ? { hint: `the ${role}` } : {}
}

const sourceName = (kind: FileKind) => (kind === 'image' ? 'this image' : 'this video')

const RESULTS: Readonly<Record<string, string>> = { i: 'image', v: 'video', a: 'sound', t: 'text' }
const resultName = (kind: string) => RESULTS[kind.slice(-1)] ?? 'result'

const textOf = (value: unknown): string => {
  if (value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value, undefined, 2) : String(value)
}

/** What a form says. */
export interface Entered {
  input: Input
  /** The fields whose text has no meaning, by parameter. */
  faults: Record<string, string>
}

/**
 * The input that the fields of an endpoint's form say, by the names of its parameters. A parameter at its default is
 * left out, and so is what the person did not fill in. Faults that the schema finds are left to it.
 */
export const readInput = (
  { parameters_schema: { properties } }: FormEndpoint,
  fieldOf: (name: string) => string | undefined,
): Entered => {
  const input: Input = {}
  const faults: Record<string, string> = {}
  const names = new Set([...Object.keys(properties), ...Object.keys(FILE_PARAMETERS)])
  for (const name of names) {
    const declared = properties[name] ?? { type: 'string' }
    const text = fieldOf(name)?.replaceAll('\r\n', '\n')
    // Browsers leave out a switch that is off.
    if (isSwitch(declared) && optionsOf(declared)?.length !== 1) {
      put(input, name, text === 'on', declared)
      continue
    }
    if (text === undefined) continue
    try {
      const value = valueIn(text, declared)
      if (value !== undefined) put(input, name, value, declared)
    } catch {
      faults[name] = `is not JSON of at most ${MAX_JSON_DEPTH} levels`
    }
  }
  return { input, faults }
}

const put = (input: Input, name: string, value: unknown, declared: Declared) => {
  if (value !== declared['default']) input[name] = value
}

/** The value that a text says; undefined if it says none. Throws for what should be JSON and is not. */
const valueIn = (text: string, declared: Declared): unknown => {
  const { type, default: byDefault } = declared
  const values = optionsOf(declared)
  if (values) return text === '' ? undefined : (values.find(value => textOf(value) === text) ?? text)
  // An empty text is a value only where there would be another without it.
  if (text === '') return typeof byDefault === 'string' ? '' : undefined
  if (type === 'string') return text
  if (type === 'integer' || type === 'number') return Number.isFinite(Number(text)) ? Number(text) : text
  if (Array.isArray(type) && type.includes('string') && !/^\s*[[{"]/.test(text)) return text
  const value: unknown = JSON.parse(text)
  // A page with thousands of levels, each indented, would take gigabytes.
  if (!isNestedWithin(MAX_JSON_DEPTH, value)) throw new RangeError('nested too deeply')
  return value
}

/** An input without the parameters that are at their defaults. */
export const withoutDefaults = ({ parameters_schema: { properties } }: FormEndpoint, input: Input): Input =>
  Object.fromEntries(Object.entries(input).filter(([name, value]) => value !== properties[name]?.['default']))

/** What an endpoint takes of an input that was made for another endpoint of its family. */
export const movedTo = ({ parameters_schema: { properties } }: FormEndpoint, input: Input): Input =>
  Object.fromEntries(
    Object.entries(input).filter(([name, value]) => {
      const declared = properties[name]
      const choices = declared?.['enum']
      return declared !== undefined && (!Array.isArray(choices) || choices.includes(value))
    }),
  )
