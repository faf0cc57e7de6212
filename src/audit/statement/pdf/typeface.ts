import type PDFDocument from 'pdfkit'
import { escapedByCode } from '../../../domain/visible-text.ts'
import { fontFile, SUBSETS } from './font-files.ts'

export interface Style {
  weight: 400 | 600
  /** In points. */
  size: number
  color: string
  /** All digits have the same width, so figures align. */
  isTabular?: boolean
}

type Document = InstanceType<typeof PDFDocument>

/** A part of a text that one font can show. */
interface Run {
  text: string
  font: string
}

/** Draws text in a document. A character that no font has is drawn as its code, such as `\u5c71`. */
export class Typeface {
  readonly #document: Document
  /** The font of each character seen so far; undefined if no font has it. */
  readonly #fonts = new Map<string, string | undefined>()
  readonly #words = new Map<string, number>()

  constructor(document: Document) {
    this.#document = document
  }

  /** Whether the fonts have all characters of a text. */
  canWrite(text: string): boolean {
    return [...text.normalize('NFC')].every(each => this.#fontOf(each) !== undefined)
  }

  /** In points. */
  width(text: string, { weight, size, isTabular = false }: Style): number {
    const key = `${weight} ${isTabular} ${text}`
    const known = this.#words.get(key)
    if (known !== undefined) return known * size
    let ems = 0
    for (const run of this.#runs(text)) {
      this.#use(run.font, weight).fontSize(1)
      ems += this.#document.widthOfString(run.text, optionsOf(isTabular))
    }
    if (this.#words.size >= MAX_WORDS) this.#words.clear()
    this.#words.set(key, ems)
    return ems * size
  }

  /** Draws a text in one line. `y` is its upper edge. */
  write(text: string, x: number, y: number, style: Style) {
    let left = x
    for (const run of this.#runs(text)) {
      const textWidth = this.width(run.text, style)
      this.#use(run.font, style.weight).fontSize(style.size).fillColor(style.color)
      this.#document.text(run.text, left, y, { ...optionsOf(style.isTabular, textWidth), lineBreak: false })
      left += textWidth
    }
  }

  /** Breaks a text into lines of at most this width, at spaces if possible. The lines contain the whole text. */
  lines(text: string, room: number, style: Style): string[] {
    const lines: string[] = []
    let line = ''
    for (const word of this.#shown(text)
      .split(' ')
      .flatMap(word => this.#broken(word, room, style))) {
      const longer = line === '' ? word : `${line} ${word}`
      if (line !== '' && this.#sum(longer, style) > room) {
        lines.push(line)
        line = word
      } else line = longer
    }
    return [...lines, line]
  }

  /** The width of a line. The width of each word is measured once. */
  #sum(line: string, style: Style): number {
    const words = line.split(' ')
    const spaces = (words.length - 1) * this.width(' ', style)
    return words.reduce((sum, word) => sum + this.width(word, style), spaces)
  }

  /** A word that is longer than a line is broken anywhere. */
  #broken(word: string, room: number, style: Style): string[] {
    if (this.width(word, style) <= room) return [word]
    const parts: string[] = []
    let part = ''
    for (const character of word) {
      if (part !== '' && this.width(part + character, style) > room) {
        parts.push(part)
        part = ''
      }
      part += character
    }
    return [...parts, part]
  }

  /** The text, with codes in place of characters that no font has. */
  #shown(text: string): string {
    return [...text.normalize('NFC')].map(each => (this.#fontOf(each) ? each : escapedByCode(each))).join('')
  }

  #runs(text: string): Run[] {
    const runs: Run[] = []
    for (const character of this.#shown(text)) {
      const font = this.#fontOf(character) as string
      const last = runs.at(-1)
      if (last?.font === font) last.text += character
      else runs.push({ text: character, font })
    }
    return runs
  }

  #fontOf(character: string): string | undefined {
    if (this.#fonts.has(character)) return this.#fonts.get(character)
    const font = SUBSETS.find(subset => this.#has(subset, character.codePointAt(0) as number))
    this.#fonts.set(character, font)
    return font
  }

  #has(subset: string, code: number): boolean {
    this.#use(subset, 400)
    const { font } = (this.#document as unknown as Internals)._font
    return font.hasGlyphForCodePoint(code)
  }

  #use(subset: string, weight: number): Document {
    const name = `${subset}-${weight}`
    return this.#document.registerFont(name, fontFile(name)).font(name)
  }
}

/**
 * The features of the font, and the width of a text if it is known. Contextual forms, such as an arrow for `->`, are
 * off: they take most of the time of a page, and would change the texts of the log. The types of pdfkit lack both
 * options.
 */
const optionsOf = (isTabular = false, textWidth?: number): PDFKit.Mixins.TextOptions =>
  ({ features: { calt: false, tnum: isTabular }, textWidth }) as object

/** The current font of pdfkit, which its types leave out. */
interface Internals {
  _font: { font: { hasGlyphForCodePoint(code: number): boolean } }
}

/** Words whose width is kept. Names of models repeat often, IDs rarely. */
const MAX_WORDS = 10_000
