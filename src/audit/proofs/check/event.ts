import { createHash } from 'node:crypto'
import type { EventTexts } from '../../../../schemas/proof.ts'
import { hold } from './wrong.ts'

/** An event as its texts say. */
export interface ReadEvent {
  format: 1 | 2
  type: string
  data: Readonly<Record<string, unknown>>
}

/** The link of an event. */
export const linkOf = (previous: string, { linkText }: Pick<EventTexts, 'linkText'>): string =>
  sha256(previous + linkText)

/** The only type of events of which a proof may hold the digest alone. It moves no credits. */
const WITHHELD = 'ProviderCostRecorded'

/**
 * Reads an event whose link was proved from the texts that the link is made of. Throws Wrong if they are not those of
 * this place.
 */
export const readEvent = (texts: EventTexts, stream: string, revision: number): ReadEvent => {
  const { linkText, dataText, metadataText } = texts
  if (dataText === undefined && metadataText === undefined) return { ...readFormat1(linkText, revision), format: 1 }
  const found = LINK_TEXT.exec(linkText)?.groups
  const isWithheld = dataText === undefined && found?.['type'] === WITHHELD
  const isWhole =
    (isWithheld || found?.['data'] === sha256(dataText ?? '')) &&
    found?.['metadata'] === sha256(metadataText ?? '') &&
    found['revision'] === String(revision) &&
    found['stream'] === stream
  hold(isWhole, `the texts of event ${revision} of ${stream} do not belong together`)
  return { type: found['type'] as string, data: isWithheld ? {} : readData(dataText ?? '', revision), format: 2 }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The link before the first event of a stream. */
export const firstPrevious = (stream: string, format: 1 | 2): string =>
  format === 1 ? '0'.repeat(64) : sha256(`{"format":2,"stream":"${stream}"}`)

const LINK_TEXT = new RegExp(
  '^\\{"data":"(?<data>[0-9a-f]{64})","format":2,"id":"[0-9a-f-]{36}","metadata":"(?<metadata>[0-9a-f]{64})",' +
    '"revision":(?<revision>[0-9]+),"stream":"(?<stream>[a-z0-9_-]+)","type":"(?<type>[A-Za-z]+)"\\}$',
)

const readFormat1 = (linkText: string, revision: number): { type: string; data: ReadEvent['data'] } => {
  const { type, data, metadata, ...others } = readData(linkText, revision)
  const isEvent =
    typeof type === 'string' &&
    /^[A-Za-z]+$/.test(type) &&
    isObject(data) &&
    isObject(metadata) &&
    metadata['format'] === undefined &&
    Object.keys(others).length === 0
  hold(isEvent, `event ${revision} is not in the documented form`)
  return { type, data }
}

/** A text in which a name comes twice, or with white space, could be read in two ways, and is not canonical. */
const readData = (text: string, revision: number): Record<string, unknown> => {
  const value = parse(text)
  const isCanonical = isObject(value) && JSON.stringify(value).length === text.length
  hold(isCanonical, `event ${revision} is not in the documented form`)
  return value
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text, withoutSign)
  } catch {
    return undefined
  }
}

/** The canonical form has no negative zero, which not every language can tell from 0. */
const withoutSign = (_name: string, value: unknown): unknown => {
  if (Object.is(value, -0)) throw new RangeError('-0 is not canonical')
  return value
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
