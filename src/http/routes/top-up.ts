import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import * as api from '../../../schemas/api/top-up.ts'
import { refuse } from '../../domain/refusal.ts'
import { topUpItem } from '../../services/purchases/top-up-item.ts'
import type { NewTopUp } from '../../services/purchases/top-ups.ts'
import { microsOf } from '../../transports/moment.ts'
import { unwrap } from '../../transports/refusals.ts'
import { route } from '../route.ts'

const getTopUp = route({
  id: 'getTopUp',
  method: 'get',
  path: '/v1/top_up',
  tag: 'Account',
  summary: 'Get the automatic top-ups',
  description: 'Returns when and how the service buys credits for the account by itself.',
  auth: 'key or session',
  responses: { 200: { description: 'The top-ups.', shape: api.TopUp, examples: { 'Turned on': examples.topUp } } },
  errors: ['not_found'],
  serve: async (ctx, { topUps }) => {
    ctx.body = topUpItem(unwrap(await topUps.find(ctx.state.caller))) satisfies api.TopUp
  },
})

const setTopUp = route({
  id: 'setTopUp',
  method: 'put',
  path: '/v1/top_up',
  tag: 'Account',
  summary: 'Turn on automatic top-ups, or change them',
  description: [
    'From now on, the service buys credits whenever a run leaves less than `below_credits`; if the balance is less',
    'already, at once. Give `credits` or `target_credits`. It charges the payment method of the newest paid purchase',
    'with `keep_method`. There is one attempt at a time. After a failure, the service tries again an hour and then a',
    'day later; the third failure turns top-ups off, and you get a notice. Needs a live key with the scope `full`.',
  ].join(' '),
  auth: 'key or session',
  json: api.NewTopUp,
  examples: { '500 credits each time': examples.requests.newTopUp },
  responses: { 200: { description: 'The top-ups.', shape: api.TopUp, examples: { 'Turned on': examples.topUp } } },
  errors: ['rate_limited'],
  serve: async (ctx, { topUps }, { json }) => {
    const { credits, target_credits } = json
    if ((credits === undefined) === (target_credits === undefined)) return unwrap(refuse('top_up_ambiguous'))
    ctx.body = topUpItem(unwrap(await topUps.set(ctx.state.caller, toNewTopUp(json)))) satisfies api.TopUp
  },
})

const removeTopUp = route({
  id: 'removeTopUp',
  method: 'delete',
  path: '/v1/top_up',
  tag: 'Account',
  summary: 'Turn off automatic top-ups',
  description: [
    'The service buys no more credits by itself. A payment that is under way may still arrive; its credits are yours.',
    'Needs a live key with the scope `full`.',
  ].join(' '),
  auth: 'key or session',
  responses: {
    200: {
      description: 'The top-ups are off.',
      shape: api.RemovedTopUp,
      examples: { 'Turned off': examples.removedTopUp },
    },
  },
  errors: ['not_found'],
  serve: async (ctx, { topUps }) => {
    unwrap(await topUps.remove(ctx.state.caller))
    ctx.body = { object: 'top_up', removed: true } satisfies api.RemovedTopUp
  },
})

export const topUpRoutes = [getTopUp, setTopUp, removeTopUp]

/** Throws ApiError for amounts with more than six decimals. */
const toNewTopUp = ({
  below_credits,
  credits,
  target_credits = 0,
  monthly_amount,
  begin_at_once,
}: api.NewTopUp): NewTopUp => ({
  beginAtOnce: begin_at_once,
  underMicros: microsOf('below_credits', below_credits),
  monthlyAmount: monthly_amount,
  ...(credits === undefined
    ? { targetMicros: microsOf('target_credits', target_credits) }
    : { creditsMicros: microsOf('credits', credits) }),
})
