import type Router from '@koa/router'
import compose from 'koa-compose'
import type { Static, TObject, TSchema } from 'typebox'
import { MAX_BODY_BYTES, MAX_LONG_BODY_BYTES } from '../../schemas/primitives.ts'
import { readerOf } from '../transports/validate.ts'
import { longJson } from './bodies/bounded-json.ts'
import type { Context, Middleware, RequestState } from './context.ts'
import type { RouteDependencies } from './dependencies.ts'
import { unreadBody } from './middleware/arriving-bodies.ts'
import { jsonBody } from './middleware/json-body.ts'
import { type Auth, type Operation, queryShapeOf } from './operation.ts'
import { queryReaderOf } from './query.ts'

/** A contract with its handler. The routers, the OpenAPI document and llms.txt follow from the list of all routes. */
export interface Route<Dependencies = RouteDependencies> extends Operation, Handling<Dependencies, never> {}

interface Handling<Dependencies, Input> {
  /** Steps that run even before authentication. */
  before?: (dependencies: Dependencies) => Middleware[]
  serve: (ctx: Context, dependencies: Dependencies, input: Input) => unknown
}

/** The parts of a request, parsed by the contract. */
interface RequestInput<Params, Query, Json> {
  params: { [Name in keyof Params]: string }
  query: Query extends TSchema ? Static<Query> : undefined
  /** Undefined if the body is of another type that the route takes. */
  json: Json extends TSchema ? Static<Json> : undefined
}

export const route = <
  Params extends Record<string, TSchema> | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Json extends TSchema | undefined = undefined,
  Dependencies = RouteDependencies,
>(
  of: Omit<Operation, 'params' | 'query' | 'json'> & { params?: Params; query?: Query; json?: Json } & Handling<
      Dependencies,
      RequestInput<Params, Query, Json>
    >,
) => of as Route<Dependencies>

/** The largest body at 2 Mbit/s. */
const LONG_ARRIVAL_MS = 130_000

const readBody = jsonBody(MAX_BODY_BYTES)
const readLongBody = jsonBody(MAX_LONG_BODY_BYTES, { arrivalMs: LONG_ARRIVAL_MS, limits: longJson, attaches: true })

/** For routes that also take other bodies, which they read themselves. */
const readJsonBody: Middleware = (ctx, next) => (ctx.is('json') ? readBody(ctx, next) : next())

/** Registers routes on a router. Throws if `authenticated` lacks the steps that check the credentials of a route. */
export const serveRoutes = <Dependencies>(
  router: Router<RequestState>,
  routes: Route<Dependencies>[],
  dependencies: Dependencies,
  authenticated: Partial<Record<Auth, Middleware[]>> = { none: [] },
) => {
  for (const of of routes) {
    const { auth, method, path, json, isLong, content } = of
    const query = queryShapeOf(of)
    const readQuery = query && queryReaderOf(query)
    const readJson = json && readerOf(json, 'body')
    const credentials = authenticated[auth]
    if (!credentials) throw new Error(`no steps check the credentials of ${method} ${path}`)
    const steps = [
      ...(of.before?.(dependencies) ?? []),
      ...credentials,
      ...(json ? [unreadBody, content ? readJsonBody : isLong ? readLongBody : readBody] : []),
    ]
    const isForm = (ctx: Context) => content !== undefined && !ctx.is('json')
    const serve = (ctx: Context) => {
      const input = {
        params: ctx['params'],
        query: readQuery?.(ctx),
        json: isForm(ctx) ? undefined : readJson?.(ctx.request.body),
      }
      return of.serve(ctx, dependencies, input as never)
    }
    // The router would compose the steps again for each request.
    router[method](path, compose([...steps, serve]))
  }
}
