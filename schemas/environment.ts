import { type Static, Type } from 'typebox'
import { MIN_MASTER_SECRET_LENGTH, OneOf } from './primitives.ts'

/** The work of a process. Any number of processes may share a role and the stores. */
export const ROLES = ['api', 'projector', 'reactors', 'sealer'] as const
export type Role = (typeof ROLES)[number]

const ANY_ROLE = ROLES.join('|')

const HOST_AND_PORT = '(?:[\\w-]+(?:\\.[\\w-]+)*|\\[[0-9a-fA-F:.]+\\])(?::\\d{1,5})?'

/** A scheme, a host name or IP address, and an optional port. */
const ORIGIN = `https?://${HOST_AND_PORT}`

const LOOPBACK = '(localhost|127\\.\\d+\\.\\d+\\.\\d+|\\[::1\\])'

/** A domain name in lower case. */
const DOMAIN = '[a-z0-9-]+(?:\\.[a-z0-9-]+)+'

/** An e-mail address. The service checks it further. */
const ADDRESS = '[^\\s\\p{C}@<>,]+@[^\\s\\p{C}@<>,]+'

/** A number above 0 and below 1000, with at most six decimals. */
const FACTOR = '(?!0+(?:\\.0+)?(?:,|$))\\d{1,3}(?:\\.\\d{1,6})?'
const FAMILY_FACTOR = `[a-z0-9-]+=${FACTOR}`

const keys = (provider: string) =>
  Type.Optional(
    Type.String({
      pattern: '^[!-+\\--~]+(,[!-+\\--~]+)*$',
      description: `The API keys of ${provider}, separated by commas, used in rotation; the provider is off if unset`,
    }),
  )

const baseUrl = (provider: string, byDefault: string) =>
  Type.Optional(
    Type.String({
      pattern: '^https?://[^?#\\s]*[^/?#\\s]$',
      description: `The base URL of ${provider}, without trailing slash; ${byDefault} if unset`,
    }),
  )

const limit = (byDefault: number, what: string) =>
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000,
    default: byDefault,
    description: `The number of ${what}; 0 for no limit`,
  })

/**
 * All environment variables of the service. Values arrive as text; the check converts numbers and fills in defaults.
 * Descriptions also end error messages: they start with a noun or, for switches, with a verb, and have no period.
 */
export const Environment = Type.Object({
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 8080,
    description: 'The port to listen on; 0 selects any free port',
  }),
  HOST: Type.String({
    minLength: 1,
    default: '127.0.0.1',
    description: 'The address to listen on; 0.0.0.0 or :: for all addresses',
  }),
  DATA_DIR: Type.String({
    minLength: 1,
    default: './data',
    description: 'The folder for the files of the embedded stores',
  }),
  PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: `^${ORIGIN}$`,
      description: [
        'The URL at which clients and providers reach the service, without path or trailing slash; http://HOST:PORT if',
        'unset, with localhost for a loopback or wildcard HOST',
      ].join(' '),
    }),
  ),
  ALLOWED_ORIGINS: Type.Optional(
    Type.String({
      pattern: `^${ORIGIN}(,${ORIGIN})*$`,
      description: [
        'The other sites whose pages may call /v1 and /mcp, separated by commas, without paths or',
        'trailing slashes, such as https://a.example.com,http://localhost:6274',
      ].join(' '),
    }),
  ),
  ROLES: Type.String({
    pattern: `^(${ANY_ROLE})(,(${ANY_ROLE}))*$`,
    default: ROLES.join(','),
    description: [
      'The work of this process, separated by commas: api answers requests, projector updates the views,',
      'reactors do due work, sealer seals the log',
    ].join(' '),
  }),
  WORKERS: Type.String({
    pattern: '^([1-9]|[1-5]\\d|6[0-4]|auto)$',
    default: '1',
    description: [
      'The processes that answer requests, at most 64, or auto for one per processor: the first has the ROLES, the',
      'others the roles api and reactors',
    ].join(' '),
  }),
  PROJECTOR_THREAD: {
    ...OneOf('on', 'off'),
    default: 'on',
    description: 'Runs the projector in a thread of its own, which leaves the main thread more time for requests',
  },
  EVENT_STORE_URL: Type.Optional(
    Type.String({
      pattern: '^(lmdb:|esdb(\\+discover)?://).+$',
      description:
        'The address of the event log: esdb://USER:PASSWORD@HOST:2113 for EventStoreDB; lmdb:DATA_DIR/log if unset',
    }),
  ),
  VIEW_STORE_URL: Type.Optional(
    Type.String({
      pattern: '^(lmdb:|rediss?://).+$',
      description: [
        'The address of the views: redis://USER:PASSWORD@HOST:6379 for Redis, rediss:// with TLS;',
        'lmdb:DATA_DIR/views if unset',
      ].join(' '),
    }),
  ),
  VIEW_KEY_SPACE: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
    default: 'tollgate',
    description: 'The prefix of the Redis keys that hold the views: up to 63 lowercase letters, digits and hyphens',
  }),
  OBJECT_STORE_URL: Type.Optional(
    Type.String({
      pattern: '^(file:|s3://).+$',
      description: [
        'The address of the files: s3://KEY:SECRET@HOST:PORT/BUCKET?region=REGION&tls=off for S3;',
        'file:DATA_DIR/objects if unset',
      ].join(' '),
    }),
  ),
  OBJECT_STORE_PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: `^${ORIGIN}$`,
      description: 'The URL at which clients reach the S3 server to upload, if it differs from OBJECT_STORE_URL',
    }),
  ),
  CDN_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^?#\\s]*[^/?#\\s]$',
      description: [
        'The URL of a public front of the S3 bucket or of PUBLIC_URL/cdn, without trailing slash;',
        'PUBLIC_URL/cdn if unset',
      ].join(' '),
    }),
  ),
  UPLOAD_GRANT_MINUTES: Type.Number({
    exclusiveMinimum: 0,
    maximum: 7 * 24 * 60,
    default: 15,
    description: 'The number of minutes for which a presigned URL is valid',
  }),
  UPLOAD_QUOTA: Type.String({
    pattern: '^\\d{1,6} ?(MB|GB|TB)$',
    default: '20 GB',
    description: 'The space that the uploads of an account may take together, in MB, GB or TB, such as 500 MB or 10 GB',
  }),
  UPLOAD_RETENTION_DAYS: Type.Number({
    exclusiveMinimum: 0,
    maximum: 3650,
    default: 7,
    description: 'The number of days after which an upload is deleted',
  }),
  OUTPUT_RETENTION_DAYS: Type.Number({
    exclusiveMinimum: 0,
    maximum: 3650,
    default: 30,
    description: 'The number of days after which the results of a run are deleted',
  }),
  RUN_VIEW_RETENTION_DAYS: Type.Optional(
    Type.Integer({
      // Within a day, a request with the same Idempotency-Key returns the run.
      minimum: 1,
      maximum: 3650,
      description: [
        'The number of days after which an ended run leaves lists and charts, so that the views stay small;',
        'it is still found by its ID, and never comes back to the lists; for ever if unset',
      ].join(' '),
    }),
  ),
  MASTER_SECRET: Type.Optional(
    Type.String({
      minLength: MIN_MASTER_SECRET_LENGTH,
      description: [
        'The secret from which the keys that sign webhooks, upload URLs and the views are derived;',
        'generated and kept in DATA_DIR/master-secret if unset',
      ].join(' '),
    }),
  ),
  SEAL_KEY: Type.Optional(
    Type.String({ description: 'The Ed25519 private key in PEM that signs seals, instead of SEAL_KEY_FILE' }),
  ),
  SEAL_KEY_FILE: Type.Optional(
    Type.String({
      description: [
        'The file with the Ed25519 private key in PEM that signs seals, to keep apart from the log;',
        'a key for development is generated and kept in DATA_DIR/seal-key.pem if unset; required with EventStoreDB',
      ].join(' '),
    }),
  ),
  SEAL_PREVIOUS_KEY_FILE: Type.Optional(
    Type.String({ description: 'The file with the key before SEAL_KEY, which signs the change to the new key' }),
  ),
  SEAL_EVENTS: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'The number of events after which the log is sealed',
  }),
  SEAL_MINUTES: Type.Number({
    exclusiveMinimum: 0,
    maximum: 1440,
    default: 10,
    description:
      'The number of minutes after which the service seals new events, even if they are fewer than SEAL_EVENTS',
  }),
  SEAL_SINK: Type.Optional(
    Type.String({
      description: [
        'The places that get a copy of each seal, separated by commas: a file, s3://BUCKET/PREFIX on the server of',
        'OBJECT_STORE_URL, or an https:// address',
      ].join(' '),
    }),
  ),
  OPENAI_API_KEY: keys('OpenAI'),
  OPENAI_BASE_URL: baseUrl('OpenAI, or of a server with the same API', 'https://api.openai.com/v1'),
  ANTHROPIC_API_KEY: keys('Anthropic'),
  ANTHROPIC_BASE_URL: baseUrl('Anthropic', 'https://api.anthropic.com'),
  GOOGLE_API_KEY: keys('the Gemini API of Google'),
  GOOGLE_BASE_URL: baseUrl('the Gemini API', 'https://generativelanguage.googleapis.com'),
  REPLICATE_API_TOKEN: keys('Replicate'),
  REPLICATE_BASE_URL: baseUrl('Replicate', 'https://api.replicate.com/v1'),
  FAL_KEY: keys('fal'),
  FAL_BASE_URL: baseUrl('fal, which replaces all of its hosts', 'https://queue.fal.run'),
  ELEVENLABS_API_KEY: keys('ElevenLabs'),
  ELEVENLABS_BASE_URL: baseUrl('ElevenLabs', 'https://api.elevenlabs.io'),
  SANDBOX: {
    ...OneOf('alone', 'fallback'),
    default: 'alone',
    description: [
      'When the sandbox makes samples, which cost credits too: alone while no provider has a key, or as the fallback',
      'for models without a configured provider',
    ].join(' '),
  },
  PROVIDER_CONCURRENCY: Type.Integer({
    minimum: 2,
    maximum: 10_000,
    default: 256,
    description: 'The number of calls that a process makes to a provider at a time',
  }),
  MAX_MEDIA_MEMORY: Type.String({
    pattern: '^([1-9]\\d{1,5} ?MB|[1-9]\\d{0,2} ?GB)$',
    default: '256 MB',
    description: [
      'The memory for long responses of providers, in MB or GB, at least 10 MB; responses wait while it is in use, and',
      'their large files go to the disk as they arrive',
    ].join(' '),
  }),
  MAX_CONNECTIONS: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'The number of connections that clients may have open at a time',
  }),
  MAX_CONNECTIONS_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 2_000,
    description:
      'The number of open connections from one IPv4 address or IPv6 /64 network, except from TRUSTED_PROXIES',
  }),
  KEEP_ALIVE_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 75,
    description: [
      'The number of seconds for which the service keeps an idle connection; set more than the idle timeout of your',
      'load balancer or proxy',
    ].join(' '),
  }),
  TRUSTED_PROXIES: Type.Optional(
    Type.String({
      description: [
        'The addresses of your proxies, such as 10.0.0.0/8,192.0.2.7: the service does not limit their connections,',
        'and reads the address of the client from their X-Forwarded-For',
      ].join(' '),
    }),
  ),
  CLIENT_ADDRESS_HEADER: {
    ...OneOf('x-forwarded-for', 'forwarded'),
    default: 'x-forwarded-for',
    description: [
      'The header in which your proxies name the client: x-forwarded-for, or forwarded (RFC 7239);',
      'the service ignores the other header',
    ].join(' '),
  },
  REQUESTS_PER_MINUTE_PER_KEY: limit(6_000, 'requests that an API key may send in a minute'),
  REQUESTS_PER_MINUTE_PER_ACCOUNT: limit(12_000, 'requests that all keys of an account may send in a minute together'),
  RUNS_IN_FLIGHT_PER_KEY: limit(5_000, 'runs of an API key that may be open at a time'),
  RUNS_IN_FLIGHT_PER_ACCOUNT: limit(10_000, 'runs of an account that may be open at a time, never more than 10,000'),
  TEST_RUNS_PER_DAY: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 1_000,
    description: 'The number of runs that the test keys of an account may start in a UTC day',
  }),
  ALLOW_PRIVATE_WEBHOOKS: Type.Boolean({
    default: false,
    description: 'Allows webhooks and image URLs in private networks; for development',
  }),
  DENIED_ADDRESSES: Type.Optional(
    Type.String({
      description: [
        'The addresses and CIDR ranges that webhooks and image URLs must never reach, such as those of your own',
        'servers, separated by commas: 203.0.113.0/24,198.51.100.7',
      ].join(' '),
    }),
  ),
  HTTPS_PROXY: Type.Optional(
    Type.String({
      pattern: '^https?://[^?#\\s]+$',
      description: [
        'The proxy, such as http://USER:PASSWORD@HOST:3128, through which the service reaches https:// addresses and',
        'the mail server; none if unset',
      ].join(' '),
    }),
  ),
  NO_PROXY: Type.Optional(
    Type.String({
      description:
        'The hosts that are reached without HTTPS_PROXY, such as localhost,.internal.example.com,10.0.0.7:8443',
    }),
  ),
  SERVICE_NAME: Type.String({
    pattern: '^[\\p{L}\\p{N}]([^\\p{C}\\p{Zl}\\p{Zp}]{0,38}[^\\p{C}\\p{Z}])?$',
    default: 'Tollgate',
    description: [
      'The name of the service on pages, mail, statements and descriptions of the API: a line of up to 40 characters',
      'that begins with a letter or digit',
    ].join(' '),
  }),
  BRAND_LOGO_FILE: Type.Optional(
    Type.String({
      description:
        'The logo on pages and statements, an SVG, PNG or WebP file of up to 256 KB; if unset, pages have our own',
    }),
  ),
  BRAND_COLOR: Type.Optional(
    Type.String({
      pattern: '^#[0-9a-f]{6}$',
      description:
        'The accent colour of pages and statements, such as #0b6b5c, dark enough for text on white; green if unset',
    }),
  ),
  BRAND_TEXT_FILE: Type.Optional(
    Type.String({
      description:
        'The words of the first page, a Markdown file that begins with a # heading, of up to 64 KB; our own if unset',
    }),
  ),
  PUBLIC_DESCRIPTORS: Type.Boolean({
    default: false,
    description: 'Makes /v1/openapi.json, /llms.txt and /.well-known/mcp readable without an API key',
  }),
  KEY_PREFIX: Type.String({
    pattern: '^[a-z0-9]{1,16}$',
    default: 'tg',
    description: 'The prefix of API keys: up to 16 lowercase letters and digits',
  }),
  USD_PER_CREDIT: Type.Number({
    minimum: 0.000001,
    maximum: 1000,
    default: 0.01,
    description: 'The price of a credit in US dollars, which converts surcharges into credits',
  }),
  MARK_UP: Type.Optional(
    Type.String({
      pattern: `^(${FACTOR}|${FAMILY_FACTOR})(,${FAMILY_FACTOR})*$`,
      description: [
        'The factor from the list prices of the providers to the prices of the service, such as 1.3, or',
        '1.3,veo-3-1=1.1 with another factor for one family; the shipped prices if unset',
      ].join(' '),
    }),
  ),
  PACKS: Type.Optional(
    Type.String({
      description: [
        'The file with the price list of credits, as JSON of "tollgate packs export"; nothing is for sale if unset,',
        'unless "tollgate packs publish" has published a price list',
      ].join(' '),
    }),
  ),
  WELCOME_CREDITS: Type.Number({
    minimum: 0,
    maximum: 1_000_000,
    default: 100,
    description: 'The credits granted to a new account, once for each mailbox',
  }),
  REGISTRATION: {
    ...OneOf('open', 'invite', 'closed'),
    default: 'open',
    description: [
      'The people who may open an account: open for everyone, invite for people whom "tollgate accounts invite"',
      'names, or closed for no one',
    ].join(' '),
  },
  REGISTRATION_DOMAINS: Type.Optional(
    Type.String({
      pattern: `^${DOMAIN}(,${DOMAIN})*$`,
      description: [
        'The domains whose e-mail addresses may open an account without an invitation, separated by commas;',
        'all domains if unset',
      ].join(' '),
    }),
  ),
  REGISTRATIONS_PER_DAY: Type.Integer({
    minimum: 0,
    maximum: 100_000,
    default: 1_000,
    description:
      'The number of accounts that people may open in a UTC day; one network may open a tenth of the remaining number',
  }),
  WELCOME_CREDITS_PER_DAY: Type.Number({
    minimum: 0,
    maximum: 1_000_000_000,
    default: 100_000,
    description:
      'The welcome credits of all accounts that people open in a UTC day; further accounts open without credits',
  }),
  WELCOME_GRANTS_PER_NETWORK_PER_DAY: Type.Integer({
    minimum: 0,
    maximum: 100_000,
    default: 3,
    description: 'The number of accounts from one network (IPv4 /24, IPv6 /48) that get welcome credits in a UTC day',
  }),
  WELCOME_DISPOSABLE_ADDRESSES: Type.Boolean({
    default: false,
    description:
      'Grants welcome credits also to addresses of disposable domains, which anyone can use for a few minutes',
  }),
  SIGN_IN_CODES_PER_MINUTE: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 60,
    description: [
      'The number of sign-in codes that a process makes in a minute for each of three groups: strangers, people with',
      'an account, and browsers that have signed in; a group may use the codes of ten minutes at once',
    ].join(' '),
  }),
  SMTP_URL: Type.Optional(
    Type.String({
      pattern: '^smtps?://.+$',
      description: [
        'The mail server: smtp://USER:PASSWORD@HOST:587, which switches to TLS if the server offers it,',
        'or smtps://HOST:465; mail is written to DATA_DIR/outbox if unset',
      ].join(' '),
    }),
  ),
  MAIL_FROM: Type.Optional(
    Type.String({
      pattern: '^[^\\p{C}]*[^\\s\\p{C}@<>]+@[^\\s\\p{C}@<>]+>?$',
      description: 'The sender of mail, such as "Tollgate <accounts@example.com>"; required with SMTP_URL',
    }),
  ),
  OPERATOR_EMAIL: Type.Optional(
    Type.String({
      pattern: '^[^\\s\\p{C}@<>]+@[^\\s\\p{C}@<>]+$',
      maxLength: 254,
      description: [
        'Your address for mail about problems that only you can fix: a provider that refuses its key, and a seal sink',
        'that fails; no such mail is sent if unset',
      ].join(' '),
    }),
  ),
  ADMIN_EMAILS: Type.Optional(
    Type.String({
      pattern: `^${ADDRESS}(,${ADDRESS})*$`,
      description: [
        'The e-mail addresses of the operators, separated by commas: accounts that sign in with one of them get the',
        'pages of the operator, which show and change all accounts and the catalog; nobody does if unset',
      ].join(' '),
    }),
  ),
  TELEGRAM_CLIENT_ID: Type.Optional(
    Type.String({
      pattern: '^[!-~]{1,255}$',
      description: 'The client ID of your bot for the Telegram login; people cannot sign in with Telegram if unset',
    }),
  ),
  TELEGRAM_CLIENT_SECRET: Type.Optional(
    Type.String({
      pattern: '^[!-~]{1,255}$',
      description: 'The client secret of your bot for the Telegram login, which BotFather shows',
    }),
  ),
  TELEGRAM_ISSUER: Type.Optional(
    Type.String({
      pattern: `^${ORIGIN}$`,
      description: 'The URL of another OpenID Connect provider in place of Telegram, for tests',
    }),
  ),
  STRIPE_SECRET_KEY: Type.Optional(
    Type.String({
      pattern: '^[sr]k_(test|live)_\\w+$',
      description: 'The secret or restricted key of your account at Stripe, sk_live_… or sk_test_…; no sales if unset',
    }),
  ),
  STRIPE_WEBHOOK_SECRET: Type.Optional(
    Type.String({
      pattern: '^whsec_[\\w+/=]+(,whsec_[\\w+/=]+)?$',
      description: [
        'The signing secret of your webhook endpoint at Stripe, whsec_…, or two, separated by a comma, while you',
        'change it; required with STRIPE_SECRET_KEY',
      ].join(' '),
    }),
  ),
  STRIPE_URL: Type.Optional(
    Type.String({
      pattern: `^(https://${HOST_AND_PORT}|http://${LOOPBACK}(:\\d{1,5})?)$`,
      description: 'The URL of another server in place of Stripe, https:// or on this machine, for tests',
    }),
  ),
  MANAGED_PAYMENTS: Type.Boolean({
    default: false,
    description: 'Lets Stripe sell to your customers as the merchant of record, which owes the tax',
  }),
  AUTOMATIC_TAX: Type.Boolean({
    default: false,
    description: 'Lets Stripe compute the tax that you owe; not with MANAGED_PAYMENTS',
  }),
  PURCHASES_PER_HOUR: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 10,
    description: 'The number of purchases that an account may open in an hour, against people who try stolen cards',
  }),
  WITHDRAWAL_DAYS: Type.Integer({
    minimum: 0,
    maximum: 30,
    default: 14,
    description: [
      'The days after a payment in which customers may withdraw from the contract; with 0, for sales only to',
      'businesses, buyers need not consent to begin at once',
    ].join(' '),
  }),
  METRICS_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description: 'The port that serves /metrics for Prometheus; 0 selects any free port; no metrics if unset',
    }),
  ),
  METRICS_HOST: Type.String({
    minLength: 1,
    default: '127.0.0.1',
    description:
      'The address of METRICS_PORT, which asks for no key; in a container 0.0.0.0, without publishing the port',
  }),
  LOG_LEVEL: {
    ...OneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    description: 'The lowest level that is logged',
  },
})
export type Environment = Static<typeof Environment>
