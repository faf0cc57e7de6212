export type AspectRatio = keyof typeof sizesAt1K
export type Resolution = keyof typeof scales

export interface PictureSize {
  width: number
  height: number
}

interface DocumentedSize {
  aspectRatio: AspectRatio
  resolution: Resolution
}

/** The pixel size of an image, as Google documents it for its Gemini image models. */
export function pictureSize(aspectRatio: AspectRatio, resolution: Resolution): PictureSize {
  const [width, height] = sizesAt1K[aspectRatio]
  const scale = scales[resolution]
  return { width: width * scale, height: height * scale }
}

/** Whether a size is documented for these values, which come from an input. */
export const isDocumented = (size: { aspectRatio: string; resolution: string }): size is DocumentedSize =>
  Object.hasOwn(sizesAt1K, size.aspectRatio) && Object.hasOwn(scales, size.resolution)

/** Stands in for a real model's choice for the ratio `auto`. */
export function chooseAspectRatio(prompt: string): AspectRatio {
  for (const word of prompt.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const ratio = ratioOfWord.get(word)
    if (ratio !== undefined) return ratio
  }
  return '1:1'
}

// A table, because the vendor chose multiples of 16 that no formula gives.
const sizesAt1K = {
  '1:1': [1024, 1024],
  '2:3': [848, 1264],
  '3:2': [1264, 848],
  '3:4': [896, 1200],
  '4:3': [1200, 896],
  '4:5': [928, 1152],
  '5:4': [1152, 928],
  '9:16': [768, 1376],
  '16:9': [1376, 768],
  '21:9': [1584, 672],
  '1:4': [512, 2048],
  '4:1': [2048, 512],
  '1:8': [384, 3072],
  '8:1': [3072, 384],
} as const

const scales = { '1K': 1, '2K': 2, '4K': 4 } as const

const wordsOfRatio: Partial<Record<AspectRatio, string>> = {
  '1:1': 'square avatar icon logo',
  '2:3': 'poster',
  '3:4': 'portrait',
  '3:2': 'landscape photo photograph',
  '9:16': 'phone smartphone mobile story vertical',
  '16:9': 'wallpaper desktop widescreen thumbnail slide',
  '21:9': 'cinematic panorama panoramic ultrawide',
  '4:1': 'banner header',
  '1:4': 'bookmark skyscraper scroll',
}

const ratioOfWord = new Map(
  (Object.entries(wordsOfRatio) as [AspectRatio, string][]).flatMap(([ratio, words]) =>
    words.split(' ').map(word => [word, ratio] as const),
  ),
)

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

/** A file that would take a decoder too long, or too much memory. The message ends the sentence “The image …”. */
export class TooMuch extends Error {
  override name = 'TooMuch'
}

/** Throws if there is more than any program writes. */
export function limit(noun: string, amount: number, max: number): void {
  if (amount > max) throw new TooMuch(`has more than ${max} ${noun}; save it again with an image editor`)
}
