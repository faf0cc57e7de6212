/**
 * A place apart from the log that keeps a copy of each seal, in order. Methods reject with Unavailable if it cannot be
 * reached now, and with Damaged if it holds something else than seals.
 */
export interface SealSink {
  /** Names the sink in messages, without secrets. */
  readonly name: string
  /** The last seal that it is known to have; undefined for none. */
  last(): Promise<SealPlace | undefined>
  /**
   * Adds seals that follow the last one, and resolves when they are durable. After a rejection some of them may be
   * there, so ask for the last one again.
   */
  append(seals: SealCopy[], last: SealPlace | undefined): Promise<void>
  close(): Promise<void>
}

/** A seal as sinks know it: its number and its link. */
export interface SealPlace {
  number: number
  link: string
}

/** A seal with all that is recorded of it, as one line of JSON that is always the same. */
export interface SealCopy extends SealPlace {
  name: string
  text: string
}

/** The number and link in the text of a copy; undefined for any other text. */
export const placeIn = (text: string): SealPlace | undefined => {
  try {
    const { number, link } = JSON.parse(text) as Partial<SealPlace>
    const isPlace = Number.isSafeInteger(number) && typeof link === 'string' && /^[0-9a-f]{64}$/.test(link)
    return isPlace ? { number: number as number, link } : undefined
  } catch {
    return undefined
  }
}
