import { LlmsText, McpDescriptor, OpenApi } from '../../../schemas/api/descriptors.ts'
import { unwrap } from '../../transports/refusals.ts'
import { staticHeaders, staticResponses } from '../answers/static-body.ts'
import { anonymousCaller, type Context } from '../context.ts'
import type { RouteDependencies } from '../dependencies.ts'
import type { DescriptionBodies } from '../descriptions/descriptions.ts'
import { route } from '../route.ts'

/** The catalog and the base URL rarely change, and descriptions still work when they are a few minutes old. */
const MAX_AGE = 'max-age=300'

const serveBody =
  (name: keyof DescriptionBodies) =>
  async (ctx: Context, { descriptors, descriptions }: RouteDependencies) => {
    const caller = descriptions.isPublic ? anonymousCaller(ctx) : ctx.state.caller
    const offers = unwrap(await descriptors.families(caller))
    if (descriptions.isPublic) {
      // Tools that read descriptions run on pages of other sites.
      ctx.set('Access-Control-Allow-Origin', '*')
      ctx.set('Access-Control-Expose-Headers', 'ETag')
      ctx.set('Cache-Control', `public, ${MAX_AGE}`)
    } else {
      ctx.set('Cache-Control', `private, ${MAX_AGE}`)
      ctx.vary('Authorization, Cookie')
    }
    return descriptions.bodies(offers)[name].answer(ctx)
  }

const getOpenApi = route({
  id: 'getOpenApi',
  method: 'get',
  path: '/v1/openapi.json',
  tag: 'Agents',
  summary: 'Get the OpenAPI 3.1 document of this API',
  description: 'Describes all requests with their responses, and the webhooks.',
  auth: 'key unless public',
  headers: staticHeaders,
  responses: staticResponses('The OpenAPI document.', OpenApi),
  serve: serveBody('openApi'),
})

const getLlmsText = route({
  id: 'getLlmsText',
  method: 'get',
  path: '/llms.txt',
  tag: 'Agents',
  summary: 'Get a guide to the service for agents',
  description: 'A short text in the llms.txt format: how to run models, their prices, and links to the rest.',
  auth: 'key unless public',
  headers: staticHeaders,
  responses: staticResponses('The guide.', LlmsText, { type: 'text/plain' }),
  serve: serveBody('llmsText'),
})

const getMcpDescriptor = route({
  id: 'getMcpDescriptor',
  method: 'get',
  path: '/.well-known/mcp',
  tag: 'Agents',
  summary: 'Get the MCP server descriptor',
  description: 'A server card (SEP-2127) with the endpoint, its authentication and its tools.',
  auth: 'key unless public',
  headers: staticHeaders,
  responses: staticResponses('The descriptor.', McpDescriptor),
  serve: serveBody('mcp'),
})

export const descriptorRoutes = [getOpenApi, getLlmsText, getMcpDescriptor]
