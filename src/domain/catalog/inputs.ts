import type { Endpoint, Kind, ParametersSchema } from '../../../schemas/catalog.ts'
import type { Message } from '../../../schemas/conversation.ts'
import { sha256 } from '../digest.ts'

/**
 * The endpoint that `model` names, else the one for the input's shape: video-to-* with `video_url`, image-to-* with
 * `image_url`, or text-to-*.
 */
export const chooseEndpoint = <Each extends Pick<Endpoint, 'id' | 'kind'>>(
  { endpoints }: { endpoints: readonly Each[] },
  model: string,
  input: Record<string, unknown>,
): Each | undefined => {
  const wanted = sourceIn(input)
  return endpoints.find(({ id }) => id === model) ?? endpoints.find(({ kind }) => sourceOf(kind) === wanted)
}

/** The first letter of a kind. */
const sourceOf = (kind: Kind) => kind[0]

const sourceIn = (input: Record<string, unknown>) => {
  if (Object.hasOwn(input, 'video_url')) return 'v'
  return Object.hasOwn(input, 'image_url') ? 'i' : 't'
}

type Input = Record<string, unknown>

/** An input as its endpoint's schema writes it. Some parameters have a second spelling. */
export const interpretInput = (input: Input, schema: ParametersSchema): Input => {
  const { properties, required = [] } = schema
  const spelled = Object.entries(input).flatMap(([given, value]) => {
    const name = nameOf(given, input, schema)
    const declared = Object.hasOwn(properties, name) ? properties[name] : undefined
    const choices = Array.isArray(declared?.['enum']) ? declared['enum'] : []
    if (value === '' && isOffByDefault(choices, declared) && !required.includes(name)) return []
    return [[name, isLevel(value, choices) ? String(value) : value]]
  })
  return Object.fromEntries(spelled)
}

/** The place in the client's input of a place in the interpreted one. */
export const placeIn = (input: Input, schema: ParametersSchema, path: string): string => {
  const given = Object.keys(input).find(name => `/${nameOf(name, input, schema)}` === path)
  return given === undefined ? path : `/${given}`
}

/** The parameter that an input has under this name and another; undefined if it does not have it twice. */
export const twiceIn = (input: Input, schema: ParametersSchema, given: string): string | undefined =>
  Object.hasOwn(input, given) && nameOf(given, input, schema) === given ? spelledBy(given, schema) : undefined

/** A seed that follows from a run's ID, within the bounds of the endpoint's schema; undefined if it takes no seed. */
export const drawSeed = ({ properties }: ParametersSchema, runId: string): number | undefined => {
  const { type, minimum, maximum } = properties['seed'] ?? {}
  if (type !== 'integer' || typeof minimum !== 'number' || typeof maximum !== 'number') return undefined
  return minimum + (Number.parseInt(sha256(runId).slice(0, 12), 16) % (maximum - minimum + 1))
}

/**
 * Second spellings of parameters. Every text-to-* input may have a prompt, which is the text of a speech model. The
 * others are those of OpenAI's clients.
 */
const SPELLINGS: Readonly<Record<string, string>> = {
  prompt: 'text',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
}

/** The parameter of a schema that a name spells in a second way. */
const spelledBy = (given: string, { properties }: ParametersSchema): string | undefined => {
  const name = Object.hasOwn(SPELLINGS, given) ? SPELLINGS[given] : undefined
  return name !== undefined && Object.hasOwn(properties, name) && !Object.hasOwn(properties, given) ? name : undefined
}

/** The parameter that a name in an input means. A parameter that the input has twice keeps the names. */
const nameOf = (given: string, input: Input, schema: ParametersSchema): string => {
  const name = spelledBy(given, schema)
  if (name === undefined) return given
  const others = Object.keys(input).filter(other => other === name || spelledBy(other, schema) === name)
  return others.length === 1 ? name : given
}

/** An empty text chooses nothing, which is allowed where a missing parameter has a meaning of its own. */
const isOffByDefault = (choices: unknown[], declared: Input = {}) =>
  choices.length > 0 && !choices.includes('') && declared['default'] === undefined

/** Vendors write some levels as text, such as "4", and clients write numbers. */
const isLevel = (value: unknown, choices: unknown[]) =>
  typeof value === 'number' && !choices.includes(value) && choices.includes(String(value))

/** The parameters that hold the address of a file, and the kind of the file. */
export const FILE_PARAMETERS = { image_url: 'image', end_image_url: 'image', video_url: 'video' } as const
export type FileParameter = keyof typeof FILE_PARAMETERS
export type FileKind = (typeof FILE_PARAMETERS)[FileParameter]

const fileParameters = Object.keys(FILE_PARAMETERS) as FileParameter[]

/** The place of a file in an input: a parameter, or the path to an image in a message. */
export type FilePlace = FileParameter | `messages/${string}`

export const isFilePlace = (text: string): text is FilePlace =>
  Object.hasOwn(FILE_PARAMETERS, text) || text.startsWith('messages/')

export const fileKindAt = (place: FilePlace): FileKind =>
  Object.hasOwn(FILE_PARAMETERS, place) ? FILE_PARAMETERS[place as FileParameter] : 'image'

/** A file that an input names by its address. */
export interface NamedFile {
  place: FilePlace
  url: string
}

/** The files of a valid input. */
export const filesIn = (input: Input): NamedFile[] => [
  ...fileParameters.flatMap(place => {
    const url = input[place]
    return typeof url === 'string' && url !== '' ? [{ place, url }] : []
  }),
  ...imagesIn(input),
]

const imagesIn = ({ messages = [] }: Input): NamedFile[] =>
  (messages as Message[]).flatMap(({ content }, at) =>
    (Array.isArray(content) ? content : []).flatMap((part, index) =>
      part.type === 'image_url'
        ? [{ place: `messages/${at}/content/${index}/image_url/url` as const, url: part.image_url.url }]
        : [],
    ),
  )
