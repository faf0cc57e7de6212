import type { Binding } from '../../schemas/binding.ts'
import type { Endpoint, Family, Kind, Mode, PriceRule } from '../../schemas/catalog.ts'
import type { Parameter } from './parameter-schemas.ts'

// Synchronous models take seconds, and asynchronous models take minutes. The limits are several times as long, because
// a timed-out run is refunded although the vendor may charge for it.
const SYNC_TIMEOUT_MS = 120_000
const MUSIC_TIMEOUT_MS = 600_000
const VIDEO_TIMEOUT_MS = 900_000

export const imageFamily = familiesOf('image', 'sync', SYNC_TIMEOUT_MS)
export const videoFamily = familiesOf('video', 'async', VIDEO_TIMEOUT_MS)
export const speechFamily = familiesOf('audio', 'sync', SYNC_TIMEOUT_MS)
export const musicFamily = familiesOf('audio', 'async', MUSIC_TIMEOUT_MS)
export const textFamily = familiesOf('text', 'sync', SYNC_TIMEOUT_MS)

/** A family, and the bindings of its endpoints in order of preference. */
export interface Model {
  family: Family
  bindings: Binding[]
}

/** A family in its file, without the facts that all families of its type share. */
interface FamilySheet {
  id: string
  aliases?: string[]
  name: string
  replaces?: string[]
  endpoints: Partial<Record<Kind, EndpointSheet>>
}

interface EndpointSheet {
  description: string
  parameters: Record<string, Parameter>
  required: string[]
  /** Parameters of which an input has exactly one. */
  oneOf?: string[]
  pricing: PriceRule
  /** Valid inputs: a minimal one, and one with most parameters. */
  examples: Record<string, unknown>[]
  status?: Endpoint['status']
  /** For models that take far longer than others of their type. */
  timeoutMs?: number
}

function familiesOf(outputType: Family['outputType'], mode: Mode, timeoutMs: number) {
  return ({ id, aliases = [], name, replaces, endpoints }: FamilySheet): Family => ({
    id,
    aliases,
    name,
    outputType,
    endpoints: Object.entries(endpoints).map(([kind, sheet]) => ({
      id: `${id}-${kind}`,
      kind: kind as Kind,
      mode,
      status: sheet.status ?? 'public',
      description: sheet.description,
      timeoutMs: sheet.timeoutMs ?? timeoutMs,
      parametersSchema: {
        type: 'object',
        properties: sheet.parameters,
        required: sheet.required,
        ...(sheet.oneOf && { oneOf: sheet.oneOf.map(parameter => ({ required: [parameter] })) }),
        additionalProperties: false,
        examples: sheet.examples,
      },
      pricing: sheet.pricing,
    })),
    ...(replaces && { replaces }),
  })
}
