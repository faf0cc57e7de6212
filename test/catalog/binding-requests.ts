import type { ProviderName } from '../../schemas/binding.ts'
import { bindings } from '../../src/catalog/shipped.ts'
import { upstreamParameters } from '../../src/domain/routing/upstream-parameters.ts'
import type { UpstreamRequest } from '../../src/ports/provider.ts'
import { endpoints, samplesOf } from './inputs.ts'

const byId = new Map(endpoints.map(([, endpoint]) => [endpoint.id, endpoint]))

/** What a provider is asked for with the sample inputs that its bindings honour, each request once. */
export const requestsOf = (provider: ProviderName): UpstreamRequest[] => {
  const found = bindings
    .filter(each => each.provider === provider)
    .flatMap(binding => {
      const { model, operation, output } = binding
      const endpoint = byId.get(binding.endpoint)
      if (!endpoint) throw new Error(`${binding.endpoint} does not ship`)
      const mapped = samplesOf(endpoint).map(input => upstreamParameters(binding, input))
      return mapped.flatMap(each => ('parameters' in each ? [{ model, operation, output, ...each }] : []))
    })
  return [...new Map(found.map(request => [JSON.stringify(request), request])).values()]
}
