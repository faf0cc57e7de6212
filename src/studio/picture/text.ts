import { createRequire } from 'node:module'
import { GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas'

type Weight = 400 | 600

/** A CSS font list of bundled fonts only, because servers often have none. */
export function font(weight: Weight, size: number): string {
  registerFonts()
  return `${weight} ${size}px ${subsets.map(subset => `"${family(subset)}"`).join(', ')}`
}

/**
 * Removes characters that the fonts lack, which would be drawn as boxes or in another font of the machine. Words in
 * other scripts become an ellipsis; emoji and control characters are dropped.
 */
export function drawable(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[^\P{L}\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+/gu, '…')
    .replace(UNDRAWABLE, ' ')
    .replace(/(…\s*)+/g, '… ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Breaks a text into at most `maxLines` lines that fit. If text is left over, the last line ends with an ellipsis. */
export function wrap(context: SKRSContext2D, text: string, room: number, maxLines: number): string[] {
  const lines: string[] = []
  let rest = text
  while (rest !== '' && lines.length < maxLines - 1) {
    const length = fitting(context, rest, room)
    if (length === rest.length) break
    const space = rest.lastIndexOf(' ', length)
    // A word longer than the line must be cut.
    const end = space > 0 ? space : Math.max(1, length)
    lines.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  if (rest !== '') lines.push(fit(context, rest, room))
  return lines
}

/** Truncates a text to one line, with an ellipsis. */
export function fit(context: SKRSContext2D, text: string, room: number): string {
  const length = fitting(context, text, room)
  if (length === text.length) return text
  const shortened = fitting(context, text, room - context.measureText('…').width)
  return `${text.slice(0, shortened).trimEnd()}…`
}

/** How many characters from the start fit. A binary search, because measuring is slow. */
function fitting(context: SKRSContext2D, text: string, room: number): number {
  let low = 0
  let high = Math.min(text.length, MAX_CHARACTERS)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (context.measureText(text.slice(0, middle)).width <= room) low = middle
    else high = middle - 1
  }
  return low
}

// More than fit on any line, so that the cost does not depend on the prompt's length.
const MAX_CHARACTERS = 300

const subsets = ['latin', 'latin-ext', 'cyrillic', 'greek'] as const

const weights: readonly Weight[] = [400, 600]

// The allowed characters were each drawn on a machine without other fonts, and none became a box.
const DRAWABLE = [
  String.raw`\u0020-\u007e\u00a0-\u00ac\u00ae-\u0148\u014a-\u017f\u0386-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce`,
  String.raw`\u0400-\u045f\u2013\u2014\u2018-\u201a\u201c-\u201e\u2020\u2022\u2026\u2032\u2033\u2039\u203a\u20ac\u2122`,
].join('')
const UNDRAWABLE = new RegExp(`[^${DRAWABLE}]+`, 'gu')

function family(subset: string): string {
  return `Tollgate Inter ${subset}`
}

function registerFonts(): void {
  const require = createRequire(import.meta.url)
  for (const subset of subsets) {
    // Fonts are registered once per process, for all its threads.
    if (GlobalFonts.has(family(subset))) continue
    for (const weight of weights) {
      const path = require.resolve(`@fontsource/inter/files/inter-${subset}-${weight}-normal.woff2`)
      GlobalFonts.registerFromPath(path, family(subset))
    }
  }
}
