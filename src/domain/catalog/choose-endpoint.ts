import type { Endpoint, Family, Kind } from '../../../schemas/catalog.ts'

/** The endpoint that an input's shape asks for: with `image_url` an image-to-* one, else a text-to-* one. */
export const chooseEndpoint = (family: Family, input: Record<string, unknown>): Endpoint | undefined => {
  const wantsImage = Object.hasOwn(input, 'image_url')
  return family.endpoints.find(endpoint => takesImage(endpoint.kind) === wantsImage)
}

const takesImage = (kind: Kind): boolean => kind.startsWith('i2')
