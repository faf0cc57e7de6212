import type { Bound } from '../../src/services/providers/routes.ts'
import { boundTo } from './bound-to.ts'
import { endpoint, family } from './catalog-samples.ts'

/** A family that retires, the one that replaces it, and one of which a part retires. */
export const retiring = [
  family('lumen', {}, [endpoint('t2i'), endpoint('i2i')]),
  family('beacon', { replaces: ['lumen'] }),
  family('torch', {}, [endpoint('t2i'), endpoint('t2v')]),
]

/** The bindings of these families at a provider that turns models off on a day. */
export const retiringBindings =
  (provider: string, day: string) =>
  (endpointId: string): Bound[] =>
    boundTo(provider)(endpointId).map(binding =>
      /^lumen|^torch-t2i/.test(endpointId) ? { ...binding, retiresAt: day, source: { on: '2026-11-24' } } : binding,
    )
