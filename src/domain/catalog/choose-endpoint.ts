import type { Endpoint, Family, Kind } from '../../../schemas/catalog.ts'

/** The family that a model name means, by its id or an alias, as far as the asker may see it. */
export const findFamily = (families: Iterable<Family>, model: string, tester: boolean): Family | undefined => {
  for (const family of families)
    if (family.id === model || family.aliases.includes(model)) return visibleTo(family, tester)
  return undefined
}

/** A family without the endpoints that only testers may see; undefined when nothing is left. */
export const visibleTo = (family: Family, tester: boolean): Family | undefined => {
  const endpoints = family.endpoints.filter(endpoint => tester || endpoint.status === 'public')
  return endpoints.length > 0 ? { ...family, endpoints } : undefined
}

/** The endpoint that an input's shape asks for: with `image_url` an image-to-* one, else a text-to-* one. */
export const chooseEndpoint = (family: Family, input: Record<string, unknown>): Endpoint | undefined => {
  const wantsImage = Object.hasOwn(input, 'image_url')
  return family.endpoints.find(endpoint => takesImage(endpoint.kind) === wantsImage)
}

const takesImage = (kind: Kind): boolean => kind.startsWith('i2')
