import type { PictureSize } from './picture-size.ts'

/** All that a file's headers say about the work of decoding it. */
export interface PictureHeaders {
  /**
   * Every size for which the decoder may allocate memory. It can differ from the size that other tools report, and an
   * attacker can exploit that to fill the memory.
   */
  sizes: PictureSize[]
  /** The pixels of all frames that the decoder may hold at once, if it may hold several. */
  framePixels?: number
  /** The first byte behind the picture. Anything may follow, and the decoder need not see it. */
  end: number
}
