import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { PackList } from '../../../schemas/api/packs.ts'
import { unwrap } from '../../transports/refusals.ts'
import { route } from '../route.ts'

const listPacks = route({
  id: 'listPacks',
  method: 'get',
  path: '/v1/packs',
  tag: 'Account',
  summary: 'List the packs of credits for sale',
  description: 'Returns what credits cost: packs, and custom amounts if the service sells them.',
  auth: 'key or session',
  responses: {
    200: {
      description: 'The price list. It is empty if the service sells no credits.',
      shape: PackList,
      examples: { 'Price list': examples.packList },
    },
  },
  serve: async (ctx, { purchases, present }) => {
    ctx.body = present.packs(unwrap(await purchases.forSale(ctx.state.caller)))
  },
})

export const packRoutes = [listPacks]
