import { LlmsText, McpDescriptor, OpenApi } from '../../../schemas/api/descriptors.ts'
import type { Catalog } from '../../services/catalog/catalog.ts'
import type { Presenter } from '../../services/runs/present.ts'
import { type Bodies, type Described, Descriptions } from '../descriptions.ts'
import { type Operation, operation, type Serve } from '../operation.ts'
import { staticAnswers, staticHeaders } from '../static-body.ts'

/** What is on offer and where may change; a description that is a few minutes old still leads to it. */
const MAX_AGE = 'max-age=300'

const getOpenApi = operation({
  id: 'getOpenApi',
  method: 'get',
  path: '/v1/openapi.json',
  tag: 'Agents',
  summary: 'The OpenAPI 3.1 document of this interface',
  description: 'Every request, with all that it may be answered with, and the webhooks.',
  headers: staticHeaders,
  answers: staticAnswers('The document.', OpenApi),
})

const getLlmsText = operation({
  id: 'getLlmsText',
  method: 'get',
  path: '/llms.txt',
  tag: 'Agents',
  summary: 'What an agent must know to use the service',
  headers: staticHeaders,
  answers: staticAnswers('The text.', LlmsText, 'text/plain'),
})

const getMcpDescriptor = operation({
  id: 'getMcpDescriptor',
  method: 'get',
  path: '/.well-known/mcp',
  tag: 'Agents',
  summary: 'Where the MCP server is, how to reach it, and its tools',
  description: 'A server card (SEP-2127), and with it the endpoint, what it needs, and the tools.',
  headers: staticHeaders,
  answers: staticAnswers('The descriptor.', McpDescriptor),
})

export const descriptorOperations: Operation[] = [getOpenApi, getLlmsText, getMcpDescriptor]

export interface DescriptorOptions extends Described {
  /** Whether everybody may read them, and not only those who have a key. */
  isPublic: boolean
}

/** Descriptions of the service that programs read. */
export const descriptorRoutes = (
  serve: Serve,
  { operations, tools, publicUrl, isPublic }: DescriptorOptions,
  catalog: Catalog,
  present: Presenter,
) => {
  // Where the operator has made the descriptions public, the router asks for no key, and they themselves say that none is needed.
  const opened = (operation: Operation): Operation =>
    isPublic && descriptorOperations.includes(operation) ? { ...operation, open: true } : operation
  const descriptions = new Descriptions({ operations: operations.map(opened), tools, publicUrl, catalog, present })

  const serveBody = (operation: Operation, name: keyof Bodies) =>
    serve(opened(operation), async ctx => {
      const { [name]: body } = await descriptions.bodies()
      if (isPublic) {
        // Pages of tools that read descriptions lie elsewhere.
        ctx.set('Access-Control-Allow-Origin', '*')
        ctx.set('Access-Control-Expose-Headers', 'ETag')
        ctx.set('Cache-Control', `public, ${MAX_AGE}`)
      } else {
        ctx.set('Cache-Control', `private, ${MAX_AGE}`)
        ctx.vary('Authorization')
      }
      return body.answer(ctx)
    })
  serveBody(getOpenApi, 'openApi')
  serveBody(getLlmsText, 'llmsText')
  serveBody(getMcpDescriptor, 'mcp')
}
