import type { DrawnLogo } from './logo.ts'
import type { Style, Typeface } from './typeface.ts'

// All lengths are in points. The page is A4, with its origin at the top left.
export const PAGE_HEIGHT = 841.89
const PAGE_WIDTH = 595.28
const MARGIN = 48

export const LEFT = MARGIN
export const RIGHT = PAGE_WIDTH - MARGIN
export const TOP = MARGIN
/** The lower edge of the content, above the footer. */
const BOTTOM = PAGE_HEIGHT - 64

/** Something drawn on a page. */
export type Mark =
  | { kind: 'text'; text: string; x: number; y: number; style: Style }
  | { kind: 'rule'; y: number; thickness: number; color: string }
  | { kind: 'box'; y: number; height: number; color: string }
  | { kind: 'logo'; logo: DrawnLogo; x: number; y: number }

const INK = '#111111'
const GREY = '#555555'

export const STYLES = {
  brand: { weight: 600, size: 18, color: INK },
  title: { weight: 600, size: 12, color: INK },
  head: { weight: 600, size: 8, color: INK },
  name: { weight: 400, size: 9, color: GREY },
  value: { weight: 400, size: 9, color: INK },
  sum: { weight: 600, size: 9, color: INK },
  line: { weight: 600, size: 8.5, color: INK },
  time: { weight: 400, size: 8, color: INK, isTabular: true },
  detail: { weight: 400, size: 7.5, color: GREY },
} as const satisfies Record<string, Style>

export const strongRule = (y: number, color: string = INK): Mark => ({ kind: 'rule', y, thickness: 1, color })
export const lightRule = (y: number): Mark => ({ kind: 'rule', y, thickness: 0.5, color: '#cccccc' })

export const toLeft = (text: string, x: number, y: number, style: Style): Mark => ({ kind: 'text', text, x, y, style })

/** A text, usually a figure, that is aligned to `right`. A text that is wider than `room` gets a smaller font. */
export const toRight = (type: Typeface, text: string, right: number, y: number, room: number, style: Style): Mark => {
  const tabular = { ...style, isTabular: true }
  const width = type.width(text, tabular)
  const scale = Math.min(1, room / width)
  return toLeft(text, right - width * scale, y, { ...tabular, size: style.size * scale })
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Fills pages from top to bottom. */
export class Flow {
  readonly pages: Mark[][] = []
  /** Draws the headings of a table on each new page. */
  heading: (() => void) | undefined
  #y = BOTTOM

  get page(): Mark[] {
    return this.pages.at(-1) ?? []
  }

  add(...marks: Mark[]) {
    this.page.push(...marks)
  }

  /** Reserves a strip of this height, on the next page if this one is full. Returns its upper edge. */
  take(height: number): number {
    if (this.pages.length === 0 || this.#y + height > BOTTOM) this.#turn()
    const y = this.#y
    this.#y += height
    return y
  }

  /** Leaves a space, unless the page ends first. */
  space(height: number) {
    this.#y += height
  }

  /**
   * Starts a new page if this one cannot hold a block that must not be divided. A block that is longer than a page is
   * divided.
   */
  keep(height: number) {
    if (this.#y + height > BOTTOM && height <= BOTTOM - TOP - HEADINGS_HEIGHT) this.#turn()
  }

  #turn() {
    this.pages.push([])
    this.#y = TOP
    this.heading?.()
  }
}

/** An upper bound of the height of the headings. */
const HEADINGS_HEIGHT = 60
