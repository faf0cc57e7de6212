import type Router from '@koa/router'
import type { Static, TObject, TSchema } from 'typebox'
import { about } from '../../schemas/api/about.ts'
import type { ErrorCode } from '../../schemas/api/error.ts'
import { Closed, MAX_BODY_BYTES } from '../../schemas/primitives.ts'
import { readerOf } from '../transports/validate.ts'
import type { Context, Middleware, RequestState } from './context.ts'
import { jsonBody } from './middleware/json-body.ts'
import { queryReaderOf } from './query.ts'

/**
 * The contract of one route. The query and JSON body are parsed with it, and the OpenAPI document is generated from it.
 */
export interface Operation {
  /** Its name in generated clients. */
  id: string
  method: 'get' | 'post' | 'put' | 'delete'
  /** In the router's syntax, such as `/v1/runs/:id`. */
  path: string
  tag: Tag
  summary: string
  description: string
  /** Set if it needs no key. */
  open?: true
  /** Set if it needs the key of an auditor. */
  forAuditors?: true
  /** Set if it needs query parameters, so that its address alone is no page. */
  asks?: true
  /** Set if the response may start before its writes are known. */
  streams?: true
  params?: Record<string, TSchema>
  query?: TObject
  /** Request headers, besides those that every request may have. */
  headers?: Record<string, TSchema>
  json?: TSchema
  examples?: Examples
  /** The body by content type, if it is not JSON. */
  content?: Record<string, TSchema>
  responses: Record<number, ResponseSpec>
  /** The possible errors, besides those of every request of its kind. */
  errors?: ErrorCode[]
}

export type Tag =
  | 'Account'
  | 'Keys'
  | 'Ledger'
  | 'Models'
  | 'Runs'
  | 'Webhooks'
  | 'Uploads'
  | 'Files'
  | 'Audit'
  | 'Agents'
  | 'Service'

export interface ResponseSpec {
  description: string
  /** The body, as JSON unless `type` is set. Missing if there is no body. */
  shape?: TSchema
  type?: string
  /** The same body in other content types. */
  content?: Record<string, TSchema>
  examples?: Examples
  /** Optional ones may be missing. */
  headers?: Record<string, TSchema>
}

/** Example bodies by a short title. */
export type Examples = Record<string, unknown>

/** The parts of a request, parsed by its operation. */
export interface RequestInput<Of extends Operation> {
  params: Of extends { params: infer Names } ? { [Name in keyof Names]: string } : undefined
  query: Of extends { query: infer Shape extends TSchema } ? Static<Shape> : undefined
  json: Of extends { json: infer Shape extends TSchema } ? Static<Shape> : undefined
}

type Handler<Of extends Operation> = (ctx: Context, input: RequestInput<Of>) => unknown

/** Registers the handler of an operation. Steps before the handler run first, even before authentication. */
export type Serve = <Of extends Operation>(
  operation: Of,
  ...steps: [...first: Middleware[], handler: Handler<Of>]
) => void

/** The path in OpenAPI's syntax, such as `/v1/runs/{id}`. */
export const templateOf = ({ path }: Operation): string => path.replaceAll(/:(\w+)/g, '{$1}')

/** The query of an operation. The API refuses unknown parameters: a misspelled `dry_run` would cost credits. */
export const queryShapeOf = ({ path, query }: Operation): TObject | undefined =>
  query ?? (path.startsWith('/v1/') ? NoQuery : undefined)

const NoQuery = about(Closed({}), 'This request takes no query parameters.')

export const operation = <const Of extends Operation>(of: Of): Of => of

const readBody = jsonBody(MAX_BODY_BYTES)

/** Registers operations on a router; `keyed` authenticates the requests of those that need a key. */
export const serveAt =
  (router: Router<RequestState>, ...keyed: Middleware[]): Serve =>
  <Of extends Operation>(of: Of, ...steps: [...first: Middleware[], handler: Handler<Of>]) => {
    const { method, path, open, json } = of
    const first = steps.slice(0, -1) as Middleware[]
    const handler = steps.at(-1) as Handler<Of>
    const query = queryShapeOf(of)
    const readQuery = query && queryReaderOf(query)
    const readJson = json && readerOf(json, 'body')
    const before = [...first, ...(open ? [] : keyed), ...(json ? [readBody] : [])]
    router[method](path, ...before, ctx => {
      const input = { params: ctx.params, query: readQuery?.(ctx), json: readJson?.(ctx.request.body) }
      return handler(ctx, input as unknown as RequestInput<Of>)
    })
  }
