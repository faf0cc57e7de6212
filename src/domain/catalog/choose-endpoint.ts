import type { Endpoint, Family, Kind } from '../../../schemas/catalog.ts'

/**
 * The endpoint that `model` names, else the one for the input's shape: video-to-* with `video_url`, image-to-* with
 * `image_url`, or text-to-*.
 */
export const chooseEndpoint = (
  { endpoints }: Family,
  model: string,
  input: Record<string, unknown>,
): Endpoint | undefined => {
  const wanted = sourceIn(input)
  return endpoints.find(({ id }) => id === model) ?? endpoints.find(({ kind }) => sourceOf(kind) === wanted)
}

/** The first letter of a kind. */
const sourceOf = (kind: Kind) => kind[0]

const sourceIn = (input: Record<string, unknown>) => {
  if (Object.hasOwn(input, 'video_url')) return 'v'
  return Object.hasOwn(input, 'image_url') ? 'i' : 't'
}
