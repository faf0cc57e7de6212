import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { ConsistencyQuery, ProofQuery } from '../../../schemas/api/proof.ts'
import { ConsistencyProof, InclusionProof } from '../../../schemas/proof.ts'
import { ApiError } from '../../transports/api-error.ts'
import { unwrap } from '../../transports/refusals.ts'
import { waitingClient } from '../connections/disconnect.ts'
import { route } from '../route.ts'

const proveEvent = route({
  id: 'proveEvent',
  method: 'get',
  path: '/v1/ledger/proof',
  asks: true,
  tag: 'Ledger',
  summary: 'Prove an event',
  description: [
    'Returns a proof that the newest seal covers an event of the account, or the debit of a run with its receipt.',
    'You can check the proof offline. Keys with the scope `read` get no proof of an event with an address that they',
    'may not see. Give either `event` or `run`. The service makes one proof of an account at a time.',
  ].join(' '),
  auth: 'key or session',
  query: ProofQuery,
  responses: {
    200: {
      description: 'The proof.',
      shape: InclusionProof,
      examples: { 'The debit of a run': examples.inclusionProof },
    },
  },
  errors: ['not_found', 'run_not_found', 'not_sealed', 'rate_limited'],
  serve: async (ctx, { proofs }, { query: { event, run } }) => {
    const { caller } = ctx.state
    const client = waitingClient(ctx)
    if ((event === undefined) === (run === undefined)) throw eitherOne()
    ctx.body = unwrap(
      event === undefined ? await proofs.run(caller, run as string, client) : await proofs.event(caller, event, client),
    ) satisfies InclusionProof
  },
})

const proveConsistency = route({
  id: 'proveConsistency',
  method: 'get',
  path: '/v1/ledger/consistency',
  asks: true,
  tag: 'Ledger',
  summary: 'Prove that a seal follows another',
  description: 'Returns a proof that a seal continues the history of an earlier seal. You can check the proof offline.',
  auth: 'key or session',
  query: ConsistencyQuery,
  responses: {
    200: { description: 'The proof.', shape: ConsistencyProof, examples: { 'Two seals': examples.consistencyProof } },
  },
  errors: ['not_found'],
  serve: async (ctx, { proofs }, { query: { from, to } }) => {
    ctx.body = unwrap(await proofs.consistency(ctx.state.caller, from, to)) satisfies ConsistencyProof
  },
})

export const proofRoutes = [proveEvent, proveConsistency]

const eitherOne = () => {
  const fault = { path: '/event', message: 'must be given, or run instead' }
  return new ApiError('invalid_request', 'Invalid query: give either event or run.', { errors: [fault] })
}
