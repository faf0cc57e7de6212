import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { Line } from './names.ts'

/** An object without undeclared fields. On disk and on the wire, an unknown field is a mistake. */
export const Closed = <Shape extends Record<string, TSchema>>(shape: Shape) =>
  Type.Object(shape, { additionalProperties: false })

/** An object with arbitrary fields. */
export const JsonObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

/** The union of `{ type, data }` over a table of event shapes. */
export type EventUnion<Table extends Record<string, TSchema>> = {
  [Name in keyof Table & string]: { type: Name; data: Static<Table[Name]> }
}[keyof Table & string]

/** A closed set of strings, as JSON Schema's `enum`. */
export const OneOf = <const Value extends string>(...values: Value[]) =>
  Type.Unsafe<Value>({ type: 'string', enum: values })

/**
 * A union of shapes that one property distinguishes. AJV checks, and reports faults of, only the shape that the
 * property selects.
 */
export const Tagged = <const Shapes extends TObject[]>(propertyName: string, ...shapes: Shapes) =>
  Type.Unsafe<Static<Shapes[number]>>({
    type: 'object',
    discriminator: { propertyName },
    oneOf: shapes,
  })

// Public IDs are TypeIDs: a prefix and a UUIDv7 in base 32 (https://github.com/jetify-com/typeid). The first character
// of the suffix is at most 7, since 26 characters hold 130 bits and a UUID has 128.
const typeId = <Prefix extends string>(prefix: Prefix) =>
  Type.Unsafe<`${Prefix}_${string}`>({ type: 'string', pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$` })

export const AccountId = typeId('acct')
export type AccountId = Static<typeof AccountId>
export const KeyId = typeId('key')
export type KeyId = Static<typeof KeyId>
export const RunId = typeId('run')
export type RunId = Static<typeof RunId>
export const UploadId = typeId('upl')
export type UploadId = Static<typeof UploadId>
export const WebhookTestId = typeId('wht')
export type WebhookTestId = Static<typeof WebhookTestId>
export const SessionId = typeId('sess')
export type SessionId = Static<typeof SessionId>
export const PurchaseId = typeId('pur')
export type PurchaseId = Static<typeof PurchaseId>
export const AuditorId = typeId('aud')
export type AuditorId = Static<typeof AuditorId>

export const Uuid = Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' })
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
export const Slug = Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 64 })

/** An absolute URL. The format is for clients; further checks depend on the use of the URL. */
export const Url = Type.String({ format: 'uri' })

/** The pattern of a day. In Python, `\d` would also match the digits of other scripts. */
export const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}'

/** ISO 8601 in UTC to the millisecond, as `Date.toISOString` writes it, so that text order is time order. */
export const Timestamp = Type.String({ pattern: `^${DAY}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$` })

/** A day in UTC, such as 2026-11-25. */
export const Day = Type.String({ pattern: `^${DAY}$` })

export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** An amount of money in whole microcredits, within what a double represents exactly. */
export const Micros = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** An amount that moves. A debit, grant or refund of nothing is not an event. */
export const PositiveMicros = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** The movements of credits, as the ledger names them. */
export const LEDGER_KINDS = ['grant', 'withdrawal', 'debit', 'refund', 'release', 'expiry'] as const
export type LedgerKind = (typeof LEDGER_KINDS)[number]

/** The largest grant, 1,000,000,000 credits. A double can add up nine of them exactly. */
export const MAX_GRANT_MICROS = 1_000_000_000 * 1_000_000

/** The longest name of a key, and the longest reason of a grant, which is one line of a report. */
export const MAX_NAME_LENGTH = 64
export const MAX_REASON_LENGTH = 200
/** Keys that were created before November 2026 may have longer names. */
export const MAX_RECORDED_NAME_LENGTH = 100

/** The longest reference of a grant or withdrawal, such as an invoice number or payment ID. */
export const MAX_REFERENCE_LENGTH = 200

/** An amount of money as text, with its currency's decimals, and an ISO 4217 currency. */
export const MONEY_AMOUNT = '(0|[1-9][0-9]{0,11})(\\.[0-9]{1,4})?'
export const CURRENCY = '[A-Z]{3}'

export const MoneyAmount = Type.String({ pattern: `^${MONEY_AMOUNT}$` })
export const Currency = Type.String({ pattern: `^${CURRENCY}$` })

/** References of an account. The account's state has a digest of each and must stay bounded. */
export const MAX_REFERENCES = 10_000

/** The provider that generates output itself, at no vendor's expense. It does all test runs. */
export const SANDBOX = 'sandbox'

/** False in test mode, which costs nothing. Missing in live mode, and from everything older than test mode. */
export const Livemode = Type.Optional(Type.Literal(false))

/** An object of one of the two modes. */
export interface Moded {
  livemode?: false | undefined
}

/** Active keys of an account. The account's state holds them and must stay bounded. */
export const MAX_ACTIVE_KEYS = 100

/** Models and addresses to which a key is restricted. The account's state holds them. */
export const MAX_KEY_MODELS = 50
export const MAX_KEY_ADDRESSES = 50

/** Open sessions of an account. The account's state holds them. A further session displaces the oldest. */
export const MAX_SESSIONS = 20

/** Identities of an account. The account's state holds them, and few are needed. */
export const MAX_IDENTITIES = 10

/** Auditors with an active key. Operators need few, and a script that creates them in a loop must fail. */
export const MAX_AUDITORS = 100

/** Uploads of an account that are not deleted yet. The account's state holds them. */
export const MAX_LIVE_UPLOADS = 10_000

/** Open runs of an account, and the bytes of their inputs, which the service or the provider holds. */
export const MAX_OPEN_RUNS = 10_000
export const MAX_OPEN_RUN_BYTES = 100 * 1024 * 1024

/**
 * The largest file that can be sent through the service, and the largest that can be sent directly to the object store.
 */
export const MAX_INLINE_BYTES = 25 * 1024 * 1024
export const MAX_PRESIGNED_BYTES = 50 * 1024 * 1024
export const MAX_INLINE_MB = MAX_INLINE_BYTES / 1024 / 1024
export const MAX_PRESIGNED_MB = MAX_PRESIGNED_BYTES / 1024 / 1024

/** Files that may arrive at a time: from an account through the service, and at a presigned URL of the service. */
export const MAX_ARRIVING_UPLOADS = 16
export const MAX_ARRIVING_PUTS = 2

/** The longest name of a file, as in most file systems, and of its folder. */
export const MAX_FILENAME_LENGTH = 255
export const MAX_FOLDER_LENGTH = 255

/** The length of the secret from which all signing keys are derived. */
export const MIN_MASTER_SECRET_LENGTH = 32

/** A client's key for a request, in visible ASCII characters, and how long it is remembered. */
export const IDEMPOTENCY_KEY = '[!-~]{1,255}'
export const IDEMPOTENCY_HOURS = 24

/** The ID of a request in logs. The client or the service chooses it. */
export const REQUEST_ID = '[A-Za-z0-9._-]{1,128}'

/** A position in the log as text. It is -1 for an empty log. */
export const POSITION = '-?[0-9]+'

/** How long a client may ask a response to wait. Proxies drop connections that are silent for more than two minutes. */
export const MAX_WAIT_SECONDS = 120

/** The most rows in a page, and the default, which fits on a screen. */
export const MAX_PAGE = 100
export const DEFAULT_PAGE = 20

/** The most days that usage adds up, a leap year, and the default of a month. */
export const MAX_USAGE_DAYS = 366
export const DEFAULT_USAGE_DAYS = 30

/** The longest label of a run. Reports and lists show it, so it is as short as a name. */
export const MAX_LABEL_LENGTH = 64

/** Named budgets of an account, which its state in memory holds: about 200 KB of them. */
export const MAX_BUDGETS = 1000

/** Printable, so that a label cannot hide or break a line. */
export const Label = Line(MAX_LABEL_LENGTH)

/**
 * The largest `metadata` and `input` as JSON text, the largest request body, and the largest message to the MCP server.
 */
export const MAX_METADATA_BYTES = 16 * 1024
export const MAX_INPUT_BYTES = 256 * 1024
export const MAX_BODY_BYTES = 1024 * 1024

/** The largest body with a conversation: agents send hundreds of kilobytes, and pictures. Vendors accept no more. */
export const MAX_LONG_BODY_BYTES = 32 * 1024 * 1024

/** The largest callback of a provider, which may repeat an input with a file of 256 KB in Base64. */
export const MAX_CALLBACK_BYTES = 1024 * 1024
export const MAX_MCP_BYTES = 320 * 1024

/**
 * The longest text of a result in an event, as JSON: EventStoreDB limits an append to 1 MB. A longer text becomes a
 * file.
 */
export const MAX_TEXT_BYTES = 256 * 1024

/** Bytes of JSON bodies that may be arriving at a time, from an account and in total. */
export const MAX_ARRIVING_BYTES = 32 * 1024 * 1024
export const MAX_ARRIVING_BYTES_IN_ALL = 128 * 1024 * 1024

/** Bytes of unread JSON responses of an account. */
export const MAX_UNREAD_BYTES = 64 * 1024 * 1024

/** Open event streams of an account. */
export const MAX_STREAMS = 256

/** The most levels of nesting in a JSON body, values in it, and names in its objects. */
export const MAX_JSON_DEPTH = 32
export const MAX_JSON_VALUES = 10_000
export const MAX_JSON_NAMES = 2_000

/** The same for a body with a conversation, of whose messages each has a few. */
export const MAX_LONG_JSON_VALUES = 100_000
export const MAX_LONG_JSON_NAMES = 25_000

/** The number of an attempt to deliver a message, from 1. */
export const Attempt = Type.Integer({ minimum: 1 })

/** The final status of an HTTP response. */
export const HttpStatus = Type.Integer({ minimum: 100, maximum: 999 })

/** The reason why a message was not accepted, for the account's owner. */
export const AttemptReason = Type.String({ minLength: 1, maxLength: 300 })
