import type { Figure, Sheet, SheetRow } from '../sheet.ts'
import { type DrawnLogo, LOGO_HEIGHT } from './logo.ts'
import { capitalized, Flow, LEFT, lightRule, type Mark, RIGHT, STYLES, strongRule, toLeft, toRight } from './page.ts'
import type { Style, Typeface } from './typeface.ts'

/** Who makes the statement. */
export interface Issuer {
  name: string
  color: string | undefined
  logo: DrawnLogo | undefined
}

export const layOut = (sheet: Sheet, issuer: Issuer, type: Typeface): Mark[][] => {
  const flow = new Flow()
  letterhead(sheet, issuer, type, flow)
  facts(sheet, type, flow)
  summary(sheet, type, flow)
  layOutLines(sheet, type, flow)
  notes(sheet, type, flow)
  return flow.pages
}

const TITLE_WIDTH = 150

/** A name in letters that the fonts lack is left to the logo. */
const letterhead = ({ title }: Sheet, { name, color, logo }: Issuer, type: Typeface, flow: Flow) => {
  const y = flow.take(46)
  const left = logo ? LEFT + logo.width + 10 : LEFT
  if (logo) flow.add({ kind: 'logo', logo, x: LEFT, y: y + (LOGO_HEIGHT - logo.height) / 2 })
  if (!logo || type.canWrite(name)) {
    const style = { ...STYLES.brand, ...(color && { color }) }
    const scale = Math.min(1, (RIGHT - TITLE_WIDTH - left) / type.width(name, style))
    // Smaller letters stand on the same line.
    flow.add(toLeft(name, left, y + style.size * (1 - scale), { ...style, size: style.size * scale }))
  }
  flow.add(toRight(type, title, RIGHT, y + 6, TITLE_WIDTH, STYLES.title), strongRule(y + 30, color))
}

const NAME_WIDTH = 70
const FACT_HEIGHT = 13

const facts = (sheet: Sheet, type: Typeface, flow: Flow) => {
  for (const [name, value] of sheet.facts)
    for (const [index, line] of type.lines(value, RIGHT - LEFT - NAME_WIDTH, STYLES.value).entries()) {
      const y = flow.take(FACT_HEIGHT)
      if (index === 0) flow.add(toLeft(capitalized(name), LEFT, y, STYLES.name))
      flow.add(toLeft(line, LEFT + NAME_WIDTH, y, STYLES.value))
    }
  flow.space(12)
}

/** The right edges of the columns for free, paid and total credits. */
const ENDS = [RIGHT - 218, RIGHT - 112, RIGHT - 6]
const FIGURE_WIDTH = 98
const SUMMARY_HEIGHT = 15
const BOX_COLOR = '#f2f2f2'

const summary = (sheet: Sheet, type: Typeface, flow: Flow) => {
  const hasParts = sheet.summary.some(({ free, paid }) => free !== '' || paid !== '')
  const rows: [string[], isBold: boolean][] = [
    [['', ...(hasParts ? ['Free', 'Paid'] : ['', '']), 'Total'], true],
    ...sheet.summary.map(({ name, free, paid, total, isBalance }): [string[], boolean] => [
      [capitalized(name), free, paid, total],
      isBalance,
    ]),
  ]
  flow.keep(rows.length * SUMMARY_HEIGHT)
  for (const [[name = '', ...figures], isBold] of rows) {
    const style = isBold ? STYLES.sum : STYLES.value
    const y = flow.take(SUMMARY_HEIGHT)
    flow.add({ kind: 'box', y, height: SUMMARY_HEIGHT, color: BOX_COLOR })
    flow.add(toLeft(name, LEFT + 6, y + 2, style))
    for (const [index, figure] of figures.entries())
      flow.add(toRight(type, figure, ENDS[index] as number, y + 2, FIGURE_WIDTH, style))
  }
  flow.space(16)
}

const NOTE_HEIGHT = 10.5

const notes = (sheet: Sheet, type: Typeface, flow: Flow) => {
  flow.heading = undefined
  flow.space(10)
  for (const note of sheet.notes) {
    const lines = type.lines(note, RIGHT - LEFT, STYLES.detail)
    flow.keep(lines.length * NOTE_HEIGHT)
    for (const line of lines) flow.add(toLeft(line, LEFT, flow.take(NOTE_HEIGHT), STYLES.detail))
    flow.space(3)
  }
}

const WORDS_LEFT = LEFT + 62
const WORDS_WIDTH = 226
const AMOUNT_RIGHT = RIGHT - FIGURE_WIDTH - 8

const HEAD_HEIGHT = 18
/** The height of a line of text, and the space between rows. */
const TEXT_HEIGHT = 10.5
const SPACE = 7

/** The lines of a statement as a table. Every page of the table repeats the headings. */
const layOutLines = (sheet: Sheet, type: Typeface, flow: Flow) => {
  const heading = () => {
    const y = flow.take(HEAD_HEIGHT)
    flow.add(
      toLeft('Time', LEFT, y, STYLES.head),
      toLeft('Line', WORDS_LEFT, y, STYLES.head),
      toRight(type, 'Change', AMOUNT_RIGHT, y, FIGURE_WIDTH, STYLES.head),
      toRight(type, 'Balance', RIGHT, y, FIGURE_WIDTH, STYLES.head),
      strongRule(y + 12),
    )
  }
  flow.keep(HEAD_HEIGHT + 4 * TEXT_HEIGHT)
  heading()
  flow.heading = heading
  for (const row of sheet.rows) layOutRow(columnsOf(row, sheet, type), flow)
  if (sheet.rows.length === 0)
    flow.add(toLeft('No credits moved in this period.', LEFT, flow.take(TEXT_HEIGHT), STYLES.detail))
}

/**
 * A row moves to the next page as a whole, unless it is longer than a page. The columns are drawn one after another,
 * because screen readers, and programs that copy from a PDF, follow the order of drawing.
 */
const layOutRow = (columns: Column[], flow: Flow) => {
  const height = Math.max(...columns.map(({ length }) => length))
  flow.keep(height * TEXT_HEIGHT)
  const strips = Array.from({ length: height }, () => ({ y: flow.take(TEXT_HEIGHT), page: flow.page }))
  for (const column of columns)
    for (const [index, place] of column.entries()) {
      const { y, page } = strips[index] as Strip
      page.push(place(y))
    }
  const { y } = strips.at(-1) as Strip
  flow.add(lightRule(y + TEXT_HEIGHT + SPACE / 2 - 1))
  flow.space(SPACE)
}

/** The place of one line of text. */
interface Strip {
  y: number
  page: Mark[]
}

/** The texts of a column, from top to bottom. Each is drawn once its height is known. */
type Column = ((y: number) => Mark)[]

const columnsOf = (
  { at, what, details, amount, balance }: SheetRow,
  { hasOffsets }: Sheet,
  type: Typeface,
): Column[] => {
  const left = (texts: string[], x: number, style: Style) => texts.map(text => (y: number) => toLeft(text, x, y, style))
  const right = ({ total, parts }: Figure, end: number) =>
    [total, ...parts.filter(part => part !== '0')].map(
      (text, index) => (y: number) =>
        toRight(type, text, end, y, FIGURE_WIDTH, index === 0 ? STYLES.line : STYLES.detail),
    )
  const fitting = (texts: string[], style: Style) => texts.flatMap(text => type.lines(text, WORDS_WIDTH, style))
  return [
    left([at.day, at.time, ...(hasOffsets ? [at.offset] : [])], LEFT, STYLES.time),
    [
      ...left(fitting([capitalized(what)], STYLES.line), WORDS_LEFT, STYLES.line),
      ...left(fitting(details, STYLES.detail), WORDS_LEFT, STYLES.detail),
    ],
    right(amount, AMOUNT_RIGHT),
    right(balance, RIGHT),
  ]
}
