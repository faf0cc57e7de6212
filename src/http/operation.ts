import type Router from '@koa/router'
import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from '../../schemas/api/error.ts'
import type { Context, Middleware, RequestState } from './context.ts'
import { jsonBody } from './middleware/json-body.ts'
import { readerOf } from './validate.ts'

/**
 * What the API promises of one route: how it is asked, and what it answers. Query and JSON body are read by it, and the document
 * is made of it.
 */
export interface Operation {
  /** Its name in clients that are generated. */
  id: string
  method: 'get' | 'post' | 'put' | 'delete'
  /** As the router has it, such as `/v1/runs/:id`. */
  path: string
  tag: Tag
  summary: string
  description?: string
  /** Needs no key. */
  open?: true
  /** Its answer may begin before it is known what was written. */
  streams?: true
  params?: Record<string, TSchema>
  query?: TObject
  /** Headers of the request, beside those that every request may have. */
  headers?: Record<string, TSchema>
  json?: TSchema
  examples?: Examples
  /** The body where it is no JSON, by its type. */
  content?: Record<string, TSchema>
  answers: Record<number, Answer>
  /** What may go wrong, beside what may go wrong with every request of its kind. */
  errors?: ErrorCode[]
}

export type Tag = 'Account' | 'Models' | 'Runs' | 'Webhooks' | 'Uploads' | 'Files' | 'Agents' | 'Service'

export interface Answer {
  description: string
  /** The body, as JSON where no other type is said. None where there is no body. */
  shape?: TSchema
  type?: string
  /** The same body as other types. */
  content?: Record<string, TSchema>
  examples?: Examples
  /** Those that are optional may be missing. */
  headers?: Record<string, TSchema>
}

/** Bodies as they may be, by a few words that say what each shows. */
export type Examples = Record<string, unknown>

/** What a request holds, read as its operation has it. */
export interface Asked<Of extends Operation> {
  params: Of extends { params: infer Names } ? { [Name in keyof Names]: string } : undefined
  query: Of extends { query: infer Shape extends TSchema } ? Static<Shape> : undefined
  json: Of extends { json: infer Shape extends TSchema } ? Static<Shape> : undefined
}

type Handler<Of extends Operation> = (ctx: Context, asked: Asked<Of>) => unknown

/** Answers an operation. What is given before the handler comes first of all, before the key is asked for. */
export type Serve = <Of extends Operation>(
  operation: Of,
  ...steps: [...first: Middleware[], handler: Handler<Of>]
) => void

/** The path as the document has it, such as `/v1/runs/{id}`. */
export const templateOf = ({ path }: Operation): string => path.replaceAll(/:(\w+)/g, '{$1}')

export const operation = <const Of extends Operation>(of: Of): Of => of

/** Registers operations at a router; `keyed` lets only those pass who have a key, where there is an operation that needs one. */
export const serveAt =
  (router: Router<RequestState>, ...keyed: Middleware[]): Serve =>
  <Of extends Operation>(
    { method, path, open, query, json }: Of,
    ...steps: [...first: Middleware[], handler: Handler<Of>]
  ) => {
    const first = steps.slice(0, -1) as Middleware[]
    const handler = steps.at(-1) as Handler<Of>
    const readQuery = query && readerOf(query, 'query')
    const readJson = json && readerOf(json, 'body')
    const before = [...first, ...(open ? [] : keyed), ...(json ? [jsonBody] : [])]
    router[method](path, ...before, ctx => {
      const asked = { params: ctx.params, query: readQuery?.(ctx.query), json: readJson?.(ctx.request.body) }
      return handler(ctx, asked as unknown as Asked<Of>)
    })
  }
