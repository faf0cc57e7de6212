/**
 * A place outside the log that keeps a copy of each seal, in order. Methods reject with Unavailable if the sink cannot
 * be reached, and with Damaged if it holds anything but seals.
 */
export interface SealSink {
  /** The name of the sink for messages, without secrets. */
  readonly name: string
  /** The last seal in the sink; undefined for none. */
  last(): Promise<SealPlace | undefined>
  /**
   * Adds seals that follow the last one. Resolves once they are durable. After a rejection, the sink may have some of
   * them, so ask for the last one again.
   */
  append(seals: SealCopy[], last: SealPlace | undefined): Promise<void>
  close(): Promise<void>
}

/** A seal in a sink: its number and its link. */
export interface SealPlace {
  number: number
  link: string
}

/** A complete seal as a line of JSON, which is always the same. */
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
