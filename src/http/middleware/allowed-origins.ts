import corsFor from '@koa/cors'
import { RATE_LIMIT, RATE_LIMIT_POLICY, TOLLGATE_POSITION, TOLLGATE_SEAL } from '../answers/headers.ts'
import type { Context, Middleware } from '../context.ts'

/** The headers that clients of the API send. */
const REQUEST_HEADERS = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'Prefer', TOLLGATE_POSITION, 'X-Request-Id'],
  ...['If-None-Match', 'Last-Event-ID'],
  // OpenAI's clients.
  ...['Lang', 'Package-Version', 'OS', 'Arch', 'Runtime', 'Runtime-Version', 'Retry-Count', 'Timeout'].map(
    name => `X-Stainless-${name}`,
  ),
]

/** The headers of answers that browsers would hide from pages. */
const ANSWER_HEADERS = [
  ...['X-Request-Id', TOLLGATE_POSITION, 'Idempotent-Replayed', 'Preference-Applied', 'Location', 'Retry-After'],
  ...[
    'Tollgate-Run',
    'X-Should-Retry',
    'ETag',
    'WWW-Authenticate',
    'Allow',
    TOLLGATE_SEAL,
    RATE_LIMIT,
    RATE_LIMIT_POLICY,
    'Deprecation',
    'Sunset',
  ],
]

/**
 * Lets pages of other sites call the API if the operator allows their origin. Browsers send no key on their own, so a
 * page acts only for the account whose key it holds.
 */
export const allowedOrigins = (origins: string[]): Middleware => {
  const cors = corsFor({
    origin: ({ headers: { origin = '' } }) => (origins.includes(origin) ? origin : ''),
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowHeaders: REQUEST_HEADERS,
    exposeHeaders: ANSWER_HEADERS,
    maxAge: 86_400,
    keepHeadersOnError: false,
  }) as unknown as Middleware
  return (ctx: Context, next) => (ctx.path.startsWith('/v1/') ? cors(ctx, next) : next())
}
