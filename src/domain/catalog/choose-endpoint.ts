import type { Endpoint, Family, Kind } from '../../../schemas/catalog.ts'

/** The endpoint that `model` names, else the one for the input's shape: image-to-* with `image_url`, or text-to-*. */
export const chooseEndpoint = (
  { endpoints }: Family,
  model: string,
  input: Record<string, unknown>,
): Endpoint | undefined => {
  const wantsImage = Object.hasOwn(input, 'image_url')
  return endpoints.find(({ id }) => id === model) ?? endpoints.find(({ kind }) => takesImage(kind) === wantsImage)
}

const takesImage = (kind: Kind): boolean => kind.startsWith('i2')
