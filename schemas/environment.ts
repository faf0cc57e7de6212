import { type Static, Type } from 'typebox'
import { MIN_MASTER_SECRET_LENGTH, OneOf } from './primitives.ts'

/** What a process does. Any number of each may run on the same stores. */
export const ROLES = ['api', 'projector', 'reactors'] as const
export type Role = (typeof ROLES)[number]

const ANY_ROLE = ROLES.join('|')

/** How a server is reached: its host by name or number, and a port. */
const ORIGIN = 'https?://(?:[\\w-]+(?:\\.[\\w-]+)*|\\[[0-9a-fA-F:.]+\\])(?::\\d{1,5})?'

/** Every environment variable that the service reads. Values are text; numbers and defaults are filled in before the check. */
export const Environment = Type.Object({
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 8080,
    description: 'The port to listen on; 0 takes any free one',
  }),
  HOST: Type.String({
    minLength: 1,
    default: '127.0.0.1',
    description: 'The address to listen on; 0.0.0.0 or :: for all',
  }),
  DATA_DIR: Type.String({ minLength: 1, default: './data', description: 'Where the embedded stores keep their files' }),
  PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: `^${ORIGIN}$`,
      description: 'How clients reach the service, without a path or a slash at the end; http://HOST:PORT if unset',
    }),
  ),
  ALLOWED_ORIGINS: Type.Optional(
    Type.String({
      pattern: `^${ORIGIN}(,${ORIGIN})*$`,
      description:
        'Sites whose pages may use /mcp, beside PUBLIC_URL itself, without a path or a slash at the end, such as https://a.example.com,http://localhost:6274',
    }),
  ),
  ROLES: Type.String({
    pattern: `^(${ANY_ROLE})(,(${ANY_ROLE}))*$`,
    default: ROLES.join(','),
    description:
      'What this process does: answers requests (api), keeps the views (projector), does what is due (reactors)',
  }),
  EVENT_STORE_URL: Type.Optional(
    Type.String({
      pattern: '^(lmdb:|esdb(\\+discover)?://).+$',
      description: 'The event log; lmdb:DATA_DIR/log if unset, or esdb://USER:PASSWORD@HOST:2113 of EventStoreDB',
    }),
  ),
  VIEW_STORE_URL: Type.Optional(
    Type.String({
      pattern: '^(lmdb:|rediss?://).+$',
      description: 'The views; lmdb:DATA_DIR/views if unset, or redis://USER:PASSWORD@HOST:6379 (rediss:// for TLS)',
    }),
  ),
  VIEW_KEY_SPACE: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
    default: 'tollgate',
    description: 'What the keys begin with that the views take in Redis',
  }),
  OBJECT_STORE_URL: Type.Optional(
    Type.String({
      pattern: '^(file:|s3://).+$',
      description:
        'The objects; file:DATA_DIR/objects if unset, or s3://KEY:SECRET@HOST:PORT/BUCKET?region=REGION&tls=off',
    }),
  ),
  OBJECT_STORE_PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: `^${ORIGIN}$`,
      description: 'How clients reach an S3 server to upload, where it has another address for them',
    }),
  ),
  CDN_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^?#\\s]*[^/?#\\s]$',
      description:
        'A public front of the S3 bucket, or of PUBLIC_URL/cdn, that files are served from; PUBLIC_URL/cdn if unset',
    }),
  ),
  UPLOAD_GRANT_MINUTES: Type.Number({
    exclusiveMinimum: 0,
    maximum: 7 * 24 * 60,
    default: 15,
    description: 'How long a presigned address can be used',
  }),
  UPLOAD_RETENTION_DAYS: Type.Number({
    exclusiveMinimum: 0,
    maximum: 3650,
    default: 7,
    description: 'Days after which an upload is deleted',
  }),
  OUTPUT_RETENTION_DAYS: Type.Number({
    exclusiveMinimum: 0,
    maximum: 3650,
    default: 30,
    description: 'Days after which the results of a run are deleted',
  }),
  MASTER_SECRET: Type.Optional(
    Type.String({
      minLength: MIN_MASTER_SECRET_LENGTH,
      description:
        'What webhooks and upload addresses are signed with secrets derived from; kept in DATA_DIR/master-secret if unset',
    }),
  ),
  ALLOW_PRIVATE_WEBHOOKS: Type.Boolean({
    default: false,
    description: 'Lets webhooks and image addresses lead to private networks; for development',
  }),
  PUBLIC_DESCRIPTORS: Type.Boolean({
    default: false,
    description: 'Lets everybody read /v1/openapi.json, /llms.txt and /.well-known/mcp without a key',
  }),
  KEY_PREFIX: Type.String({ pattern: '^[a-z0-9]{1,16}$', default: 'tg', description: 'What API keys begin with' }),
  USD_PER_CREDIT: Type.Number({
    minimum: 0.000001,
    maximum: 1000,
    default: 0.01,
    description: 'Turns a surcharge in US dollars into credits',
  }),
  WELCOME_CREDITS: Type.Number({
    minimum: 0,
    maximum: 1_000_000,
    default: 100,
    description: 'Credits that a new account is granted',
  }),
  LOG_LEVEL: {
    ...OneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    description: 'How much is logged',
  },
})
export type Environment = Static<typeof Environment>
