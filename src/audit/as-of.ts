import type { RawEvent } from '../../schemas/recorded.ts'

/** A moment in the history of a log: a time in UTC, a revision of one stream, or a position in the log. */
export type AsOf = { at: string } | { revision: number } | { position: number }

/**
 * Parses a moment: `2026-11-23` (the start of that day in UTC), `2026-11-23T10:00:00Z`, a revision such as `12`, or a
 * position such as `position:345`. Returns undefined for any other text.
 */
export const parseAsOf = (text: string): AsOf | undefined => {
  const [, kind, number] = /^(position:)?(\d{1,15})$/.exec(text) ?? []
  if (number !== undefined) return kind ? { position: Number(number) } : { revision: Number(number) }
  const at = parseTime(text)
  return at === undefined ? undefined : { at }
}

/** A date, or a date and time with an offset, as a time of the log; undefined for any other text. */
export const parseTime = (text: string): string | undefined => {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined
  const day = toTime(text.slice(0, 10))
  // JavaScript reads the 31st of a shorter month as a day of the next month.
  return day?.startsWith(text.slice(0, 10)) ? toTime(text) : undefined
}

/** Times are compared as texts, so years must have four digits. */
const toTime = (text: string): string | undefined => {
  const timeMs = Date.parse(text)
  const time = Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString()
  return time?.length === 24 ? time : undefined
}

/** Whether an event had happened at a moment. An event at the moment itself had. */
export const hadHappened = ({ revision, position, metadata }: RawEvent, asOf: AsOf): boolean => {
  if ('revision' in asOf) return revision <= asOf.revision
  return 'position' in asOf ? position <= asOf.position : (metadata as { at: string }).at <= asOf.at
}
