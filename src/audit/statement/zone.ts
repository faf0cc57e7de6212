/** The name of an IANA time zone, as given; undefined if there is no such zone. */
export const parseZone = (text: string): string | undefined => {
  // Intl also accepts offsets such as +01:00, which are not zones.
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(text)) return undefined
  try {
    clockOf(text)
    return text
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** A moment on the clocks of a zone. */
export interface LocalTime {
  /** Such as `2026-10-25`. */
  day: string
  /** Such as `02:30:00.000`. */
  time: string
  /** The offset from UTC, such as `+01:00`. */
  offset: string
}

/** A time of the log on the clocks of a zone. */
export const localTimeOf = (at: string, zone: string): LocalTime => {
  const atMs = Date.parse(at)
  const shownMs = shownOn(clockOf(zone), atMs)
  const [day = '', time = ''] = new Date(shownMs).toISOString().slice(0, -1).split('T')
  return { day, time, offset: offsetText(shownMs - atMs) }
}

/** Such as `2026-10-25T02:30:00.000+01:00`. */
export const localText = (at: string, zone: string): string => {
  const { day, time, offset } = localTimeOf(at, zone)
  return `${day}T${time}${offset}`
}

/**
 * The first moment of a day in a zone, as a time of the log. This is midnight, or later if the clocks skip midnight. A
 * day that a zone skipped begins with the next day, so that consecutive periods neither overlap nor leave a gap.
 */
export const startOfDay = (day: string, zone: string): string => {
  const clock = clockOf(zone)
  const midnightMs = Date.parse(day)
  let [beforeMs, startMs] = [midnightMs - REACH_MS, midnightMs + REACH_MS]
  while (startMs - beforeMs > 1) {
    const middleMs = Math.floor((beforeMs + startMs) / 2)
    if (shownOn(clock, middleMs) < midnightMs) beforeMs = middleMs
    else startMs = middleMs
  }
  return new Date(startMs).toISOString()
}

/** More than any zone's offset from UTC, including zones that crossed the date line. */
const REACH_MS = 2 * 24 * 60 * 60 * 1000

const clocks = new Map<string, Intl.DateTimeFormat>()

const clockOf = (zone: string): Intl.DateTimeFormat => {
  const known = clocks.get(zone)
  if (known) return known
  const number = 'numeric' as const
  const clock = new Intl.DateTimeFormat('en', {
    ...{ timeZone: zone, calendar: 'iso8601', hourCycle: 'h23' },
    ...{ year: number, month: number, day: number, hour: number, minute: number, second: number },
  })
  clocks.set(zone, clock)
  return clock
}

/** The moment at which a clock in UTC shows the same time as `clock` at the given moment. */
const shownOn = (clock: Intl.DateTimeFormat, atMs: number): number => {
  const shown: Record<string, number> = {}
  for (const { type, value } of clock.formatToParts(atMs)) shown[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((atMs % SECOND_MS) + SECOND_MS) % SECOND_MS)
}

const SECOND_MS = 1000
const MINUTE_MS = 60_000

/** Some zones once had offsets with seconds, which are left out. */
const offsetText = (offsetMs: number): string => {
  const minutes = Math.trunc(Math.abs(offsetMs) / MINUTE_MS)
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map(part => String(part).padStart(2, '0'))
  return `${offsetMs < 0 ? '-' : '+'}${hour}:${minute}`
}
