export const DAY_MS = 24 * 60 * 60 * 1000

/** The day in UTC of a time in ms since 1970, such as 2026-11-25. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 'yyyy-mm-dd'.length)

/** A time of the log to the minute, as people write it, such as 2026-11-25 09:30 UTC. */
export const minuteText = (at: string): string => `${at.slice(0, 'yyyy-mm-ddThh:mm'.length).replace('T', ' ')} UTC`

/** A time of the log to the second, such as 2026-11-25 09:30:12 UTC. */
export const secondText = (at: string): string => `${at.slice(0, 'yyyy-mm-ddThh:mm:ss'.length).replace('T', ' ')} UTC`
