import type { ModelFamily } from '../../../schemas/api/model.ts'
import { info, tags } from '../descriptions/api-info.ts'
import { type Operation, templateOf } from '../operation.ts'
import { Components } from './components.ts'
import { describeOperation } from './describe-operation.ts'
import { describeWebhooks } from './describe-webhooks.ts'
import { inputsOf } from './inputs.ts'

/** The parts of the document that differ between services. */
export interface DocumentFacts {
  /** The name of the service. */
  title: string
  baseUrl: string
  /** The families that every account can use. */
  families: ModelFamily[]
}

/** The OpenAPI 3.1 description of operations (https://spec.openapis.org/oas/v3.1.0.html). */
export const describeApi = (operations: Operation[], { title, baseUrl, families }: DocumentFacts) => {
  const components = new Components()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const path = templateOf(operation)
    paths[path] = { ...paths[path], [operation.method]: describeOperation(operation, components) }
  }
  const webhooks = describeWebhooks(components)
  const { schemas, parameters, headers, responses } = components
  return {
    openapi: '3.1.0',
    info: { title, ...info, contact: { name: 'The operator of this service', url: baseUrl } },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    tags,
    paths,
    webhooks,
    components: {
      schemas: { ...schemas, ...inputsOf(families, schemas) },
      parameters,
      headers,
      responses,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, sent as `Authorization: Bearer tg_sk_live_…`.',
        },
      },
    },
  }
}
