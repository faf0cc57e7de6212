import { configure } from 'safe-stable-stringify'
import { sha256 } from '../../domain/digest.ts'

/** The ledger format of new events. Events without a format are of format 1. See `docs/ledger-format.md`. */
export const FORMAT = 4

/** The hashed fields of an event. */
export interface Linkable {
  stream: string
  revision: number
  id: string
  type: string
  data: unknown
  /** The data as the log holds it, if `data` is not that. */
  stored?: unknown
  metadata: { format?: number; hash?: string }
}

/** The texts that a link is made of, exactly as they are hashed. */
interface LinkTexts {
  linkText: string
  /** Absent in format 1, like the next one. */
  dataText?: string
  metadataText?: string
}

/**
 * The link of an event to the one before it, in lowercase hex; `previous` is undefined for the first event of a stream.
 * Throws a RangeError for a format that this version does not know.
 */
export const link = (previous: string | undefined, event: Linkable): string => linkWithSize(previous, event).hash

/** The link, and the bytes of the event's data. */
export const linkWithSize = (previous: string | undefined, event: Linkable): { hash: string; sizeBytes: number } => {
  const { linkText, dataText = linkText } = linkTexts(event)
  const hash = sha256((previous ?? firstPrevious(event)) + linkText)
  return { hash, sizeBytes: Buffer.byteLength(dataText) }
}

/** The texts of an event's link. Throws a RangeError for a format that this version does not know. */
export const linkTexts = (event: Linkable): LinkTexts => {
  const { format = 1 } = event.metadata
  const { stored = event.data } = event
  if (format === 1) return { linkText: textOfFormat1(event) }
  if (format === 2) return textsOf(event, stored)
  if (format === 3 || format === FORMAT) return textsOf(event, withoutCost(stored))
  throw new RangeError(`ledger format ${format} is unknown to this version`)
}

/** The predecessor of a stream's first event. Since format 2 it covers the name, so that streams cannot be swapped. */
export const firstPrevious = ({ stream, metadata: { format = 1 } }: Pick<Linkable, 'stream' | 'metadata'>): string =>
  format === 1 ? GENESIS_OF_FORMAT_1 : sha256(canonicalJson({ format, stream }))

const GENESIS_OF_FORMAT_1 = '0'.repeat(64)

const textOfFormat1 = ({ type, data, metadata }: Linkable): string =>
  canonicalJson({ data, metadata: withoutHash(metadata), type })

/**
 * Data and metadata are hashed separately, so the place and type of an event can be proved without its contents. The
 * text is the canonical form of an object with these members, which are already in order.
 */
const textsOf = ({ stream, revision, id, type, metadata }: Linkable, data: unknown): LinkTexts => {
  const [dataText, metadataText] = [canonicalJson(data), canonicalJson(withoutHash(metadata))]
  const linkText =
    `{"data":"${sha256(dataText)}","format":${metadata.format},"id":${JSON.stringify(id)},` +
    `"metadata":"${sha256(metadataText)}","revision":${revision},` +
    `"stream":${JSON.stringify(stream)},"type":${JSON.stringify(type)}}`
  return { linkText, dataText, metadataText }
}

/**
 * Data with the digest of its cost in place of the cost. The text lets a reader check the other data, and does not
 * reveal the cost, which contains a salt.
 */
const withoutCost = (data: unknown): unknown => {
  const { cost } = data as { cost?: unknown }
  return cost === undefined ? data : { ...(data as object), cost: sha256(canonicalJson(cost)) }
}

const withoutHash = ({ hash: _, ...rest }: Linkable['metadata']): object => rest

/** Sorts keys by UTF-16 code units, and writes strings and numbers as JSON.stringify does, as RFC 8785 requires. */
const stringify = configure({ strict: true })

/**
 * How JSON.stringify writes half of a surrogate pair, which RFC 8785 refuses. The lookbehind skips escaped backslashes.
 */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/

/** The canonical form of a JSON value (RFC 8785), so that equal values have equal text. */
export const canonicalJson = (value: unknown): string => {
  const text = stringify(value)
  if (text === undefined || (text.includes('\\ud') && LONE_SURROGATE.test(text)))
    throw new TypeError('only a JSON value has a canonical form')
  return text
}
