import type { OutputType } from '../../../schemas/catalog.ts'

/** What a file of a result can be. */
export type FileType = Exclude<OutputType, 'text'>

/** The endpoints of the test family. All return text, whatever their kind. */
const TEST_ENDPOINT = 'sandbox-'

/** By the last letter of a kind, such as `t2i`. */
const types: Readonly<Record<string, OutputType>> = { i: 'image', v: 'video', a: 'audio', t: 'text' }

export const isTestEndpoint = (endpoint: string): boolean => endpoint.startsWith(TEST_ENDPOINT)

/** What an endpoint makes. Its id ends with its kind, even after its family was withdrawn. */
export const outputTypeOf = (endpoint: string): OutputType => {
  const type = isTestEndpoint(endpoint) ? 'text' : types[endpoint.slice(-1)]
  if (!type) throw new Error(`the id of the endpoint ${endpoint} does not end with a kind`)
  return type
}
