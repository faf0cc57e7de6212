import type { TSchema } from 'typebox'
import { isOptional } from '../../../schemas/api/about.ts'
import { ErrorBody, type ErrorCode, errorMeanings, errorStatus } from '../../../schemas/api/error.ts'
import recorded from '../../../schemas/api/examples.json' with { type: 'json' }
import {
  RateLimit,
  RateLimitPolicy,
  RequestId,
  RetryAfter,
  TollgatePosition,
  WwwAuthenticate,
} from '../../../schemas/api/headers.ts'
import { type Examples, isForAccounts, type Operation, queryShapeOf, type ResponseSpec } from '../operation.ts'
import type { Components } from './components.ts'

/** An OpenAPI Response Object. */
interface ResponseObject {
  description: string
  headers: Record<string, unknown>
  content?: Record<string, { schema: unknown; examples?: object }>
}

/** The OpenAPI Operation Object of an operation. */
export const describeOperation = (operation: Operation, components: Components) => {
  const { id, tag, summary, description, auth, json, content, examples } = operation
  const bodies = {
    ...(json && contentOf({ 'application/json': json }, examples, components)),
    ...(content && contentOf(content, json ? undefined : examples, components)),
  }
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(auth === 'none' && { security: [] }),
    parameters: parametersOf(operation, components),
    ...((json || content) && { requestBody: { required: true, content: bodies } }),
    responses: responsesOf(operation, components),
  }
}

const parametersOf = (operation: Operation, components: Components) => {
  const { params = {}, query, headers = {} } = operation
  const parameter = (place: string, name: string, shape: TSchema, required: boolean) => ({
    name,
    in: place,
    required,
    ...components.showParameter(shape),
  })
  const needed = new Set((query?.required as string[] | undefined) ?? [])
  const common = {
    ...(isForAccounts(operation) && { 'Tollgate-Position': TollgatePosition }),
    'X-Request-Id': RequestId,
  }
  return [
    ...Object.entries(params).map(([name, shape]) => parameter('path', name, shape, true)),
    ...Object.entries<TSchema>(query?.properties ?? {}).map(([name, shape]) =>
      parameter('query', name, shape, needed.has(name)),
    ),
    ...Object.entries({ ...headers, ...common }).map(([name, shape]) =>
      components.share('parameters', name, parameter('header', name, shape, false)),
    ),
  ]
}

const responsesOf = (operation: Operation, components: Components) => {
  const tellsPosition = operation.method !== 'get' && operation.auth !== 'none' && !operation.streams
  const position = tellsPosition && { 'Tollgate-Position': TollgatePosition }
  const counted = isForAccounts(operation) && rateLimits
  const declared = Object.entries(operation.responses).map(([status, spec]) => {
    const headers = { ...spec.headers, ...(Number(status) < 300 && position), ...counted }
    return [status, response({ ...spec, headers }, components)] as const
  })
  const errors = errorsOf(operation)
  const refused = [...new Set(errors.map(code => errorStatus[code]))].map(status => {
    const codes = errors.filter(code => errorStatus[code] === status)
    const refusal = refuse(status, codes, components)
    const spec = operation.responses[status]
    return [
      String(status),
      spec ? either(response(spec, components), refusal) : components.share('responses', codes.join('-'), refusal),
    ] as const
  })
  const isRefusable = errors.some(code => errorStatus[code] < 500)
  return Object.fromEntries([...declared, ...refused, ...(isRefusable ? [] : [['400', malformed]])])
}

/**
 * The headers of responses to counted requests. Operations share refusals, including operations that count no requests.
 */
const rateLimits = { 'RateLimit-Policy': RateLimitPolicy, RateLimit }

/** The refusal that every operation has; the others have refusals of their own too. */
const malformed = { description: 'The request is not valid HTTP.' }

/** The response of a status that both a declared response and errors use. */
const either = (answer: ResponseObject, refusal: ResponseObject): ResponseObject => {
  const bodies = [answer, refusal].flatMap(({ content }) => content?.['application/json'] ?? [])
  const schema = { anyOf: bodies.map(body => body.schema) }
  const examples = Object.assign({}, ...bodies.map(body => body.examples))
  return {
    description: `${answer.description}\n\n${refusal.description}`,
    headers: { ...answer.headers, ...refusal.headers },
    content: { ...answer.content, 'application/json': { schema, examples } },
  }
}

const response = (
  { description, shape, type = 'application/json', content, examples, headers = {} }: ResponseSpec,
  components: Components,
): ResponseObject => ({
  description,
  headers: Object.fromEntries(
    Object.entries({ ...headers, 'X-Request-Id': RequestId }).map(([name, shape]) => {
      const header = { required: !isOptional(shape), ...components.showParameter(shape) }
      // openapi-typescript treats every referenced header as required.
      return [name, header.required ? components.share('headers', name, header) : header]
    }),
  ),
  ...((shape || content) && {
    content: {
      ...(shape && contentOf({ [type]: shape }, examples, components)),
      ...(content && contentOf(content, undefined, components)),
    },
  }),
})

const refuse = (status: number, codes: ErrorCode[], components: Components): ResponseObject => {
  const part = (properties: object) => ({ type: 'object', properties })
  const ofThese = part({ error: part({ ...anyMembers, code: { enum: codes } }) })
  return {
    ...response(
      {
        description: codes.map(code => `\`${code}\`: ${errorMeanings[code]}`).join('\n\n'),
        headers: {
          ...(status === 401 ? { 'WWW-Authenticate': WwwAuthenticate } : rateLimits),
          ...((status === 503 || status === 429) && { 'Retry-After': RetryAfter }),
        },
      },
      components,
    ),
    content: {
      'application/json': {
        schema: { allOf: [components.show(ErrorBody), ofThese] },
        examples: Object.fromEntries(codes.map(code => [code, { value: recorded.errors[code] }])),
      },
    },
  }
}

/** Linters refuse members that a part of an allOf does not name. */
const anyMembers = Object.fromEntries(Object.keys(ErrorBody.properties.error.properties).map(name => [name, {}]))

const contentOf = (types: Record<string, TSchema>, examples: Examples | undefined, components: Components) =>
  Object.fromEntries(
    Object.entries(types).map(([type, shape]) => [
      type,
      { schema: components.show(shape), ...(examples && { examples: shownExamples(examples) }) },
    ]),
  )

const shownExamples = (examples: Examples) =>
  Object.fromEntries(
    Object.entries(examples).map(([summary, value]) => [
      summary.replaceAll(/\W+/g, '-').toLowerCase(),
      { summary, value },
    ]),
  )

/** The errors of an operation: the declared errors, and the errors that requests of its kind can cause. */
const errorsOf = (operation: Operation): ErrorCode[] => {
  const { auth, params, json, errors = [] } = operation
  return [
    ...new Set<ErrorCode>([
      ...(params || queryShapeOf(operation) || json || auth !== 'none' ? (['invalid_request'] as const) : []),
      ...(json ? (['unsupported_media_type', 'payload_too_large'] as const) : []),
      ...(auth === 'none' ? [] : (['invalid_api_key', 'account_suspended', 'rate_limited'] as const)),
      // The keys of auditors are refused even where no key is needed.
      'forbidden',
      ...errors,
      'internal_error',
      'unavailable',
    ]),
  ]
}
