import { createHash } from 'node:crypto'
import { type EventTexts, MAX_TEXT_DEPTH } from '../../../../schemas/proof.ts'
import { isNestedWithin } from '../../../domain/nesting.ts'
import { canonicalJson } from '../../../engine/log/canonical.ts'
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

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

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

/** The object in a text. Any other text than the canonical one could be read in two ways. */
const readData = (text: string, revision: number): Record<string, unknown> => {
  const value = parse(text)
  const isRead = isObject(value) && isNestedWithin(MAX_TEXT_DEPTH, value) && isCanonical(value, text)
  hold(isRead, `event ${revision} is not in the documented form`)
  return value
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A text may hold half of a character, for which there is no canonical form. */
const isCanonical = (value: object, text: string): boolean => {
  try {
    return canonicalJson(value) === text
  } catch {
    return false
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
