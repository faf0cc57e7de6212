import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { Seal, SealKeySet, SealQuery } from '../../../schemas/api/seal.ts'
import type { SealKeyAdopted } from '../../../schemas/seal-events.ts'
import { unwrap } from '../../transports/refusals.ts'
import { staticHeaders, staticResponses } from '../answers/static-body.ts'
import { anonymousCaller } from '../context.ts'
import { route } from '../route.ts'

/** A new key signs seals at once, so a cached list of keys must not be much older than the time between two seals. */
const MAX_AGE = 'max-age=300'

const getSealKeys = route({
  id: 'getSealKeys',
  method: 'get',
  path: '/v1/ledger/keys',
  tag: 'Ledger',
  summary: 'Get the public keys of the seals',
  description: [
    'Returns every key that ever signed seals of the log, as a JSON Web Key Set (RFC 7517) of Ed25519 keys (RFC 8037).',
    'A copy that you keep shows whether a key was replaced.',
  ].join(' '),
  auth: 'none',
  headers: staticHeaders,
  responses: staticResponses('The keys.', SealKeySet, { examples: { Keys: examples.sealKeys } }),
  serve: async (ctx, { seals, bodies }) => {
    const keys = unwrap(await seals.keys(anonymousCaller(ctx)))
    // Verifiers may run on pages of any site.
    ctx.set('Access-Control-Allow-Origin', '*')
    ctx.set('Access-Control-Expose-Headers', 'ETag')
    ctx.set('Cache-Control', `public, ${MAX_AGE}`)
    // Keys are only added, so their number identifies the set.
    return bodies.get([ctx.path, keys.length].join(), () => keySetOf(keys)).answer(ctx)
  },
})

const getSeal = route({
  id: 'getSeal',
  method: 'get',
  path: '/v1/ledger/seal',
  tag: 'Ledger',
  summary: 'Get the newest seal of the log, or an earlier one',
  description: [
    'Returns a signed commitment to all events of all accounts so far. The seal reveals nothing about an account.',
    'Keep a seal: with it, anyone who has the log can prove whether the log still has all events that the seal covers.',
  ].join(' '),
  auth: 'key or session',
  query: SealQuery,
  responses: { 200: { description: 'The seal.', shape: Seal, examples: { Seal: examples.seal } } },
  errors: ['not_found'],
  serve: async (ctx, { seals }, { query }) => {
    ctx.body = unwrap(await seals.find(ctx.state.caller, query.number)) satisfies Seal
  },
})

export const sealRoutes = [getSealKeys, getSeal]

const keySetOf = (keys: SealKeyAdopted[]): SealKeySet => ({
  keys: keys.map(({ key, keyId, development }) => ({
    ...key,
    kid: keyId,
    use: 'sig',
    ...(development && { development }),
  })),
})
