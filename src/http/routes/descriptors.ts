import { LlmsText, McpDescriptor, OpenApi } from '../../../schemas/api/descriptors.ts'
import type { Presenter } from '../../services/presenter.ts'
import type { Services } from '../../services/services.ts'
import { unwrap } from '../../transports/refusals.ts'
import { staticHeaders, staticResponses } from '../answers/static-body.ts'
import { anonymousCaller } from '../context.ts'
import { type Bodies, type DescriptionDependencies, Descriptions } from '../descriptions/descriptions.ts'
import { type Operation, operation, type Serve } from '../operation.ts'

/** The catalog and the base URL rarely change, and descriptions that are a few minutes old still work. */
const MAX_AGE = 'max-age=300'

const getOpenApi = operation({
  id: 'getOpenApi',
  method: 'get',
  path: '/v1/openapi.json',
  tag: 'Agents',
  summary: 'Get the OpenAPI 3.1 document of this API',
  description: 'Describes every request with its responses, and the webhooks.',
  headers: staticHeaders,
  responses: staticResponses('The OpenAPI document.', OpenApi),
})

const getLlmsText = operation({
  id: 'getLlmsText',
  method: 'get',
  path: '/llms.txt',
  tag: 'Agents',
  summary: 'Get a guide to the service for agents',
  description: 'A short text in the llms.txt format: how to run models, their prices, and links to the rest.',
  headers: staticHeaders,
  responses: staticResponses('The guide.', LlmsText, { type: 'text/plain' }),
})

const getMcpDescriptor = operation({
  id: 'getMcpDescriptor',
  method: 'get',
  path: '/.well-known/mcp',
  tag: 'Agents',
  summary: 'Get the MCP server descriptor',
  description: 'A server card (SEP-2127) with the endpoint, its authentication and its tools.',
  headers: staticHeaders,
  responses: staticResponses('The descriptor.', McpDescriptor),
})

export const descriptorOperations: Operation[] = [getOpenApi, getLlmsText, getMcpDescriptor]

export interface DescriptorOptions extends DescriptionDependencies {
  /** Whether anyone may read them without an API key. */
  isPublic: boolean
}

/** The machine-readable descriptions of the service. */
export const descriptorRoutes = (
  serve: Serve,
  { operations, tools, publicUrl, isPublic }: DescriptorOptions,
  services: Services,
  present: Presenter,
) => {
  // Public descriptions need no API key, and the OpenAPI document says so.
  const opened = (operation: Operation): Operation =>
    isPublic && descriptorOperations.includes(operation) ? { ...operation, open: true } : operation
  const descriptions = new Descriptions({ operations: operations.map(opened), tools, publicUrl, present })

  const serveBody = (operation: Operation, name: keyof Bodies) =>
    serve(opened(operation), async ctx => {
      const caller = isPublic ? anonymousCaller(ctx) : ctx.state.caller
      const offers = unwrap(await services.descriptors.families(caller))
      const { [name]: body } = descriptions.bodies(offers)
      if (isPublic) {
        // Tools that read descriptions run on pages of other sites.
        ctx.set('Access-Control-Allow-Origin', '*')
        ctx.set('Access-Control-Expose-Headers', 'ETag')
        ctx.set('Cache-Control', `public, ${MAX_AGE}`)
      } else {
        ctx.set('Cache-Control', `private, ${MAX_AGE}`)
        ctx.vary('Authorization, Cookie')
      }
      return body.answer(ctx)
    })
  serveBody(getOpenApi, 'openApi')
  serveBody(getLlmsText, 'llmsText')
  serveBody(getMcpDescriptor, 'mcp')
}
