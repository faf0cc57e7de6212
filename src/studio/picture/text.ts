import { createRequire } from 'node:module'
import { GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas'

type Weight = 400 | 600

/** A CSS font that only names fonts this package brings along, for a server often has none of its own. */
export function font(weight: Weight, size: number): string {
  registerFonts()
  return `${weight} ${size}px ${subsets.map(subset => `"${family(subset)}"`).join(', ')}`
}

/**
 * Makes a text safe to draw: characters that the fonts do not have would come out as boxes, or in a font that only
 * some machines have. Words in other scripts leave an ellipsis behind, and emoji and control characters leave nothing.
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

/** Breaks a text into at most `most` lines that fit, the last of which tells by an ellipsis that there was more. */
export function wrap(context: SKRSContext2D, text: string, room: number, most: number): string[] {
  const lines: string[] = []
  let rest = text
  while (rest !== '' && lines.length < most - 1) {
    const length = fitting(context, rest, room)
    if (length === rest.length) break
    const space = rest.lastIndexOf(' ', length)
    // A single word that is longer than the line has to be cut somewhere.
    const end = space > 0 ? space : Math.max(1, length)
    lines.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  if (rest !== '') lines.push(fit(context, rest, room))
  return lines
}

/** Cuts a text that is too long for one line, and puts an ellipsis in place of what it lost. */
export function fit(context: SKRSContext2D, text: string, room: number): string {
  const length = fitting(context, text, room)
  if (length === text.length) return text
  const shortened = fitting(context, text, room - context.measureText('…').width)
  return `${text.slice(0, shortened).trimEnd()}…`
}

/** How many characters from the start of a text fit, found by halving since measuring is what takes the time. */
function fitting(context: SKRSContext2D, text: string, room: number): number {
  let low = 0
  let high = Math.min(text.length, MOST_CHARACTERS)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (context.measureText(text.slice(0, middle)).width <= room) low = middle
    else high = middle - 1
  }
  return low
}

// No line of the caption has room for more, so a prompt of any length costs the same.
const MOST_CHARACTERS = 300

const subsets = ['latin', 'latin-ext', 'cyrillic', 'greek'] as const

const weights: readonly Weight[] = [400, 600]

// What is left here was drawn, character by character, on a machine without any other font, and no box came out.
const UNDRAWABLE =
  /[^\u0020-\u007e\u00a0-\u00ac\u00ae-\u0148\u014a-\u017f\u0386-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce\u0400-\u045f\u2013\u2014\u2018-\u201a\u201c-\u201e\u2020\u2022\u2026\u2032\u2033\u2039\u203a\u20ac\u2122]+/gu

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
