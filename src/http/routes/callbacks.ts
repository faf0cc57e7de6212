import { CallbackBody, CallbackQuery, callbackPlace } from '../../../schemas/api/callback.ts'
import { MAX_CALLBACK_BYTES } from '../../../schemas/primitives.ts'
import { CALLBACKS_PATH } from '../../services/files/addresses.ts'
import type { Services } from '../../services/services.ts'
import { ApiError } from '../../transports/api-error.ts'
import { unwrap } from '../../transports/refusals.ts'
import { anonymousCaller, type Context, type Middleware } from '../context.ts'
import { unreadBody } from '../middleware/arriving-bodies.ts'
import { arrivesInTime } from '../middleware/json-body.ts'
import { route } from '../route.ts'

interface CallbackDependencies extends Pick<Services, 'callbacks' | 'paymentReports'> {
  /** Limits the cost of callbacks until their sender is verified. */
  bounded: Middleware
}

const receiveCallback = route({
  id: 'receiveCallback',
  method: 'post',
  path: `${CALLBACKS_PATH}/:provider`,
  tag: 'Service',
  summary: 'Report that a job of a provider has ended',
  description: [
    'Only for the providers of the service, which sign their callbacks. Clients do not need this route.',
    'The service polls the provider at once instead of at the next regular poll.',
  ].join(' '),
  auth: 'none',
  params: callbackPlace,
  query: CallbackQuery,
  content: { '*/*': CallbackBody },
  responses: { 204: { description: 'The provider has signed the callback.' } },
  errors: ['not_found', 'payload_too_large', 'rate_limited'],
  before: ({ bounded }: CallbackDependencies) => [unreadBody, bounded],
  serve: async (ctx, { callbacks }, { params: { provider }, query: { run } }) => {
    const readBody = () => rawBody(ctx, MAX_CALLBACK_BYTES)
    unwrap(await callbacks.receive(anonymousCaller(ctx), { provider, runId: run, headers: ctx.headers, readBody }))
    ctx.status = 204
  },
})

const receivePaymentReport = route({
  id: 'receivePaymentReport',
  method: 'post',
  path: `${CALLBACKS_PATH}/stripe`,
  tag: 'Service',
  summary: 'Report a payment',
  description: [
    'Only for Stripe, which signs its events. Clients do not need this route. The answer comes once the event is',
    'recorded. Events that do not concern the service are ignored.',
  ].join(' '),
  auth: 'none',
  content: { '*/*': CallbackBody },
  responses: { 204: { description: 'The event is recorded, or ignored.' } },
  errors: ['not_found', 'payload_too_large', 'rate_limited'],
  before: ({ bounded }: CallbackDependencies) => [unreadBody, bounded],
  serve: async (ctx, { paymentReports }) => {
    const readBody = () => rawBody(ctx, MAX_CALLBACK_BYTES)
    const signature = ctx.get('Stripe-Signature') || undefined
    unwrap(await paymentReports.receive(anonymousCaller(ctx), { signature, readBody }))
    ctx.status = 204
  },
})

/** The first that matches takes the request. */
export const callbackRoutes = [receivePaymentReport, receiveCallback]

/** Reads the bytes of a body, up to a limit, for the check of signatures. */
const rawBody = async (ctx: Context, maxBytes: number): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = []
  const read = async () => {
    let sizeBytes = 0
    // The request stays open for its answer.
    for await (const piece of ctx.req.iterator({ destroyOnReturn: false })) {
      sizeBytes += piece.byteLength
      if (sizeBytes > maxBytes) throw new ApiError('payload_too_large', `The body is larger than ${maxBytes} bytes.`)
      pieces.push(piece)
    }
  }
  await arrivesInTime(ctx, read())
  return Buffer.concat(pieces)
}
