import { sha256 } from '../../domain/digest.ts'
import { canonicalJson } from './canonical.ts'

/** The ledger format of new events. Events without a format are of format 1. See `docs/ledger-format.md`. */
export const FORMAT = 2

/** The hashed fields of an event. */
export interface Linkable {
  stream: string
  revision: number
  id: string
  type: string
  data: unknown
  metadata: { format?: number; hash?: string }
}

/**
 * The link of an event to the one before it, in lowercase hex; `previous` is undefined for the first event of a stream.
 * Throws a RangeError for a format that this version does not know.
 */
export const link = (previous: string | undefined, event: Linkable): string => {
  const { format = 1 } = event.metadata
  if (format === 1) return linkOfFormat1(previous ?? GENESIS_OF_FORMAT_1, event)
  if (format === FORMAT) return linkOfFormat2(previous ?? genesis(event.stream), event)
  throw new RangeError(`ledger format ${format} is unknown to this version`)
}

const GENESIS_OF_FORMAT_1 = '0'.repeat(64)

const linkOfFormat1 = (previous: string, { type, data, metadata }: Linkable): string =>
  sha256(previous + canonicalJson({ data, metadata: withoutHash(metadata), type }))

/** The predecessor of a stream's first event. It covers the name, so that streams cannot be swapped. */
const genesis = (stream: string): string => sha256(canonicalJson({ format: FORMAT, stream }))

/**
 * Data and metadata are hashed separately, so the place and type of an event can be proved without its contents. The
 * text is the canonical form of an object with these members, which are already in order.
 */
const linkOfFormat2 = (previous: string, { stream, revision, id, type, data, metadata }: Linkable): string =>
  sha256(
    `${previous}{"data":"${digest(data)}","format":${FORMAT},"id":${JSON.stringify(id)},` +
      `"metadata":"${digest(withoutHash(metadata))}","revision":${revision},` +
      `"stream":${JSON.stringify(stream)},"type":${JSON.stringify(type)}}`,
  )

const digest = (value: unknown): string => sha256(canonicalJson(value))

const withoutHash = ({ hash: _, ...rest }: Linkable['metadata']): object => rest
