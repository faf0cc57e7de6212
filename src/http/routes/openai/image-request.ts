import type { ImageRequest } from '../../../../schemas/api/openai/images.ts'
import type { RunRequest } from '../../../../schemas/api/run.ts'
import type { ParametersSchema } from '../../../../schemas/catalog.ts'
import { placeFault } from '../../../transports/moment.ts'
import type { ParameterNames } from './errors.ts'
import { metadataOf, type NeutralValues, passedThrough, storeOf, underOtherNames } from './pass-through.ts'

type Given = ImageRequest & Record<string, unknown>

/** The run that makes the images. Throws invalid_request with the place of what the model cannot do. */
export const imageRun = (
  { model, metadata, user, size, response_format: _, ...given }: Given,
  schema: ParametersSchema,
  source: { image_url?: string } = {},
  names: ParameterNames = imageNames,
): RunRequest => {
  const { n, ...rest } = given
  const counted = n !== undefined && has(schema, 'num_images') ? { num_images: n } : {}
  const parameters = 'num_images' in counted ? rest : given
  const further = { ...source, ...counted, ...(size !== undefined && sizeIn(size, schema)) }
  return {
    model,
    input: underOtherNames(further, passedThrough(parameters, schema, neutral), names),
    ...storeOf(given),
    ...metadataOf({ ...(metadata && { metadata }), ...(user !== undefined && { user }) }),
  }
}

/** The names of OpenAI. */
export const imageNames: ParameterNames = {
  input: 'prompt',
  ...{ num_images: 'n', aspect_ratio: 'size', resolution: 'size', width: 'size', height: 'size' },
}

/** https://platform.openai.com/docs/api-reference/images/create: the defaults. */
const neutral: NeutralValues = {
  ...{ n: [1], quality: ['auto', 'standard'], background: ['auto'], moderation: ['auto'] },
  ...{ output_compression: [100], stream: [false], store: [false], partial_images: [0] },
}

const has = ({ properties }: ParametersSchema, name: string) => Object.hasOwn(properties, name)

/** The model's parameters for a size in pixels. */
const sizeIn = (size: string, schema: ParametersSchema): Record<string, unknown> => {
  const choices = (name: string) => (schema.properties[name]?.['enum'] ?? []) as string[]
  if (size === 'auto')
    return ['size', 'aspect_ratio'].some(name => choices(name).includes('auto')) ? autoIn(schema) : {}
  if (has(schema, 'size')) return { size }
  const [, width = 0, height = 0] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size)?.map(Number) ?? []
  if (width === 0) throw placeFault('size', 'must be auto, or a width and height such as 1024x1024', 'body')
  if (has(schema, 'width') && has(schema, 'height')) return { width, height }
  const ratios = choices('aspect_ratio')
  const ratio = ratios.find(each => isRatio(each, width, height))
  if (ratio === undefined) throw placeFault('size', `must have one of the model’s ratios: ${ratios.join(', ')}`, 'body')
  if (!has(schema, 'resolution')) return { aspect_ratio: ratio }
  const resolution = nearest(choices('resolution'), width * height)
  if (resolution !== undefined) return { aspect_ratio: ratio, resolution }
  const sizes = choices('resolution').join(', ')
  throw placeFault('size', `must have about as many pixels as one of the model’s resolutions: ${sizes}`, 'body')
}

const autoIn = (schema: ParametersSchema) => (has(schema, 'size') ? { size: 'auto' } : { aspect_ratio: 'auto' })

const isRatio = (ratio: string, width: number, height: number) => {
  const [across = 0, down = 0] = ratio.split(':').map(Number)
  return across > 0 && across * height === down * width
}

/** A model has a size of its own for each ratio. A size that is further off lies between two resolutions. */
const MAX_FACTOR = 1.5

/** The resolution with about as many pixels. */
const nearest = (resolutions: string[], pixels: number): string | undefined => {
  const factorOf = (resolution: string) => Math.abs(Math.log(pixels / pixelsOf(resolution)))
  const [first] = resolutions.toSorted((one, other) => factorOf(one) - factorOf(other))
  return first !== undefined && factorOf(first) <= Math.log(MAX_FACTOR) ? first : undefined
}

/** Models name resolutions by the side of a square, such as 2K, or by the pixels, such as 0.5 MP. */
const pixelsOf = (resolution: string): number => {
  const [, number = '', unit] = /^([\d.]+) ?(K|MP)$/.exec(resolution) ?? []
  return unit === 'K' ? (Number(number) * 1024) ** 2 : Number(number) * 1_000_000
}
