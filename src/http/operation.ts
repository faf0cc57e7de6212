import type { TObject, TSchema } from 'typebox'
import { about } from '../../schemas/api/about.ts'
import type { ErrorCode } from '../../schemas/api/error.ts'
import { Closed } from '../../schemas/primitives.ts'

/**
 * The contract of a route. Its query and JSON body are parsed with it, and the OpenAPI document is generated from it.
 */
export interface Operation {
  /** The name of the operation in generated clients. */
  id: string
  method: 'get' | 'post' | 'put' | 'delete'
  /** In the router's syntax, such as `/v1/runs/:id`. */
  path: string
  tag: Tag
  summary: string
  description: string
  auth: Auth
  /** Set if query parameters are required, so that llms.txt does not link to the path. */
  asks?: true
  /** Set if the response may start before its writes are known. */
  streams?: true
  params?: Record<string, TSchema>
  query?: TObject
  /** Request headers, besides the headers that every request may have. */
  headers?: Record<string, TSchema>
  json?: TSchema
  /** Whether the JSON body may hold a long conversation. */
  isLong?: true
  examples?: Examples
  /** The body by content type, if it is not JSON, or as an alternative to JSON. */
  content?: Record<string, TSchema>
  responses: Record<number, ResponseSpec>
  /** The possible errors, besides the errors of every request of its kind. */
  errors?: ErrorCode[]
}

/**
 * The credentials that a request needs. A signed-in owner needs no key, so the reference works for owners in a browser,
 * except where a request is about the key itself or only programs send it. Operators may open the descriptions to
 * everyone. A service function further restricts the scopes of keys (`services/policies/`).
 */
export type Auth = 'none' | 'key' | 'key or session' | 'key unless public' | 'auditor key'

export type Tag =
  | 'Account'
  | 'Keys'
  | 'Budgets'
  | 'Ledger'
  | 'Models'
  | 'Runs'
  | 'OpenAI'
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
  /** The same answer in other content types. The examples are not for these. */
  content?: Record<string, TSchema>
  examples?: Examples
  /** Optional headers may be missing. */
  headers?: Record<string, TSchema>
}

/** Example bodies by a short title. */
export type Examples = Record<string, unknown>

/** The path in OpenAPI's syntax, such as `/v1/runs/{id}`. */
export const templateOf = ({ path }: Operation): string => path.replaceAll(/:(\w+)/g, '{$1}')

/** The query of an operation. The API refuses unknown parameters: a misspelled `dry_run` would cost credits. */
export const queryShapeOf = ({ path, query }: Operation): TObject | undefined =>
  query ?? (path.startsWith('/v1/') ? NoQuery : undefined)

const NoQuery = about(Closed({}), 'This request takes no query parameters.')

/** Whether a request needs the credentials of an account. */
export const isForAccounts = ({ auth }: Operation): boolean => auth !== 'none' && auth !== 'auditor key'
