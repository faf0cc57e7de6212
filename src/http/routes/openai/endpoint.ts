import type { Endpoint, Family } from '../../../../schemas/catalog.ts'
import { chooseEndpoint } from '../../../domain/catalog/inputs.ts'
import type { Offer } from '../../../services/catalog/offers.ts'
import { placeFault } from '../../../transports/moment.ts'
import { unwrap } from '../../../transports/refusals.ts'
import type { Context } from '../../context.ts'
import type { RouteDependencies } from '../../dependencies.ts'

/** The endpoint that a model's name means for an input without files. Throws for a model with other output. */
export const endpointOf = async (
  ctx: Context,
  { catalog }: Pick<RouteDependencies, 'catalog'>,
  model: string,
  outputType: Family['outputType'],
): Promise<Endpoint> => {
  const family = await familyOf(ctx, catalog, model)
  if (family.outputType !== outputType)
    throw placeFault('model', `must be a model with the output_type ${outputType}, not ${family.outputType}`, 'body')
  const endpoint = chooseEndpoint(family, model, {})
  if (endpoint) return endpoint
  throw placeFault('model', 'must be a model that needs no file', 'body')
}

/** The endpoint that a model's name means for an image. Throws for a model that edits none. */
export const editingEndpointOf = async (
  ctx: Context,
  { catalog }: Pick<RouteDependencies, 'catalog'>,
  model: string,
): Promise<Endpoint> => {
  const endpoint = chooseEndpoint(await familyOf(ctx, catalog, model), model, { image_url: '' })
  if (endpoint?.kind === 'i2i') return endpoint
  throw placeFault('model', 'must be a model that edits images', 'body')
}

const familyOf = async (ctx: Context, catalog: RouteDependencies['catalog'], model: string): Promise<Family> => {
  const [offer] = unwrap(await catalog.list(ctx.state.caller, { model }))
  return (offer as Offer).family
}
