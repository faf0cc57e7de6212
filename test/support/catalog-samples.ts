import type { Endpoint, Family, Kind, ParametersSchema, PriceRule } from '../../schemas/catalog.ts'
import type { CatalogEvent } from '../../schemas/catalog-events.ts'
import type { CatalogCommand } from '../../src/domain/catalog/catalog.ts'

/** The parameters of all endpoints in these tests, with their descriptions. */
export const parameters = (properties: ParametersSchema['properties'] = {}): ParametersSchema => ({
  type: 'object',
  properties: { prompt: { type: 'string' }, ...properties },
  required: ['prompt'],
  additionalProperties: false,
})

/** Ten credits by default. */
export const priceRule = (rule: Partial<PriceRule> = {}): PriceRule => ({
  baseMicros: 10_000_000,
  quantities: [],
  multipliers: {},
  surcharges: [],
  ...rule,
})

/** An endpoint without its id, which its family provides. */
export const endpoint = (kind: Kind, differences: Partial<Endpoint> = {}): Omit<Endpoint, 'id'> & { id?: string } => ({
  kind,
  mode: 'sync',
  status: 'public',
  description: 'Makes pictures.',
  timeoutMs: 1000,
  parametersSchema: parameters(),
  pricing: priceRule(),
  ...differences,
})

export const family = (id = 'lumen', differences: Partial<Family> = {}, endpoints = [endpoint('t2i')]): Family => ({
  id,
  aliases: [],
  name: 'Lumen',
  outputType: 'image',
  endpoints: endpoints.map(one => ({ ...one, id: one.id ?? `${id}-${one.kind}` })),
  ...differences,
})

export const publish = (family: Family): CatalogCommand => ({ type: 'PublishFamily', family })
export const revise = (family: Family): CatalogCommand => ({ type: 'ReviseFamily', family })
export const withdraw = (familyId: string): CatalogCommand => ({ type: 'WithdrawFamily', familyId })

export const published = (family: Family): CatalogEvent => ({ type: 'FamilyPublished', data: { family } })
export const revised = (family: Family): CatalogEvent => ({ type: 'FamilyRevised', data: { family } })
export const withdrawn = (familyId: string): CatalogEvent => ({ type: 'FamilyWithdrawn', data: { familyId } })
