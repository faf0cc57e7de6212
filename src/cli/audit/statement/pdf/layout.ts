import type { Sheet } from '../sheet.ts'
import { Flow } from './flow.ts'
import { capitalized, LEFT, type Mark, RIGHT, STYLES, strongRule, toLeft, toRight } from './page.ts'
import { layOutLines } from './table.ts'
import type { Typeface } from './typeface.ts'

/** The marks of a statement's pages. */
export const layOut = (sheet: Sheet, type: Typeface): Mark[][] => {
  const flow = new Flow()
  letterhead(sheet, type, flow)
  facts(sheet, type, flow)
  summary(sheet, type, flow)
  layOutLines(sheet, type, flow)
  notes(sheet, type, flow)
  return flow.pages
}

const letterhead = ({ title }: Sheet, type: Typeface, flow: Flow) => {
  const y = flow.take(46)
  const room = (RIGHT - LEFT) / 2
  flow.add(toLeft('Tollgate', LEFT, y, STYLES.brand), toRight(type, title, RIGHT, y + 6, room, STYLES.title))
  flow.add(strongRule(y + 30))
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

/** The right ends of free, paid and total, and the room of each. */
const ENDS = [RIGHT - 218, RIGHT - 112, RIGHT - 6]
const FIGURE_WIDTH = 98
const SUMMARY_HEIGHT = 15
const BOX_COLOR = '#f2f2f2'

const summary = (sheet: Sheet, type: Typeface, flow: Flow) => {
  const rows: [string[], isBold: boolean][] = [
    [['', 'Free', 'Paid', 'Total'], true],
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
