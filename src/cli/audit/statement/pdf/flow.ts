import { BOTTOM, type Mark, TOP } from './page.ts'

/** Pages that are filled from their upper end to their lower one. */
export class Flow {
  readonly pages: Mark[][] = []
  /** Puts the headings on each page that begins, which repeat on every page of a table. */
  heading: (() => void) | undefined
  #y = BOTTOM

  /** The page that is being filled. */
  get page(): Mark[] {
    return this.pages.at(-1) ?? []
  }

  add(...marks: Mark[]) {
    this.page.push(...marks)
  }

  /** Takes a strip of this height, on the next page if this one has no room. Returns its upper end. */
  take(height: number): number {
    if (this.pages.length === 0 || this.#y + height > BOTTOM) this.#turn()
    const y = this.#y
    this.#y += height
    return y
  }

  /** Leaves room, unless the page ends before. */
  space(height: number) {
    this.#y += height
  }

  /** Begins a page if this one has no room for something that is not to be divided, and a whole page has. */
  keep(height: number) {
    if (this.#y + height > BOTTOM && height <= BOTTOM - TOP - HEADINGS_HEIGHT) this.#turn()
  }

  #turn() {
    this.pages.push([])
    this.#y = TOP
    this.heading?.()
  }
}

/** More than the headings of a page take. */
const HEADINGS_HEIGHT = 60
