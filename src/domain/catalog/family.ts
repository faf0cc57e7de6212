import type { Family, FamilyStatus, OutputType } from '../../../schemas/catalog.ts'

/** The names of a family in requests: its id, its aliases, and the ids of its endpoints. */
export const namesOf = ({ id, aliases, endpoints }: Family): string[] => [
  id,
  ...aliases,
  ...endpoints.map(endpoint => endpoint.id),
]

/** Whether a name is that of a withdrawn family that this one replaces, or of one of its endpoints. */
export const isReplacedBy = (name: string, { replaces = [] }: Family): boolean =>
  replaces.includes(name) || replaces.includes(familyIn(name))

/** The family that the id of an endpoint names. */
export const familyIn = (endpoint: string): string => endpoint.replace(KIND_SUFFIX, '')

/** The end of an endpoint's id. */
const KIND_SUFFIX = /-[a-z]2[a-z]$/

/** A family without the endpoints that only testers may see; undefined when nothing is left. */
export const visibleTo = (family: Family, tester: boolean): Family | undefined => {
  const endpoints = family.endpoints.filter(endpoint => tester || endpoint.status === 'public')
  return endpoints.length > 0 ? { ...family, endpoints } : undefined
}

/** The status that all endpoints share, else `mixed`. It counts endpoints that the caller cannot see. */
export const statusOf = ({ endpoints }: Family): FamilyStatus => {
  const [status = 'mixed', ...others] = new Set(endpoints.map(endpoint => endpoint.status))
  return others.length === 0 ? status : 'mixed'
}

/** The possible types of a result's file. */
export type FileType = Exclude<OutputType, 'text'>

/** The endpoints of the test family. Endpoints of all kinds return text. */
const TEST_ENDPOINT = 'sandbox-'

/** By the last letter of a kind, such as `t2i`. */
const types: Readonly<Record<string, OutputType>> = { i: 'image', v: 'video', a: 'audio', t: 'text' }

export const isTestEndpoint = (endpoint: string): boolean => endpoint.startsWith(TEST_ENDPOINT)

/** The type of an endpoint's result. The id of an endpoint ends with its kind, even after its family was withdrawn. */
export const outputTypeOf = (endpoint: string): OutputType => {
  const type = isTestEndpoint(endpoint) ? 'text' : types[endpoint.slice(-1)]
  if (!type) throw new Error(`the id of the endpoint ${endpoint} does not end with a kind`)
  return type
}
