import { count } from '../../../audit/count.ts'
import type { Statement } from '../../../audit/statement/statement.ts'
import { type Align, toTable } from '../../print.ts'
import { wrapped } from '../text.ts'
import { type Figure, type Sheet, type SheetRow, sheetOf } from './sheet.ts'

/** Lines in a table. The columns of a table are as wide as its texts, so that it must be laid out as a whole. */
const TABLE_LINES = 1000

/** The width of a page, and that of the words with which a line fits in it. */
const WIDTH = 100
const WORDS_WIDTH = 36

/** A statement as tables for a terminal, in pieces of text. */
export function* statementToText(statement: Statement): Generator<string> {
  const sheet = sheetOf(statement)
  yield `${sheet.title}\n\n${toTable(sheet.facts)}\n\n${summaryTable(sheet)}\n\n`
  let day = ''
  for (let at = 0; at < sheet.rows.length; at += TABLE_LINES) {
    const rows: string[][] = []
    for (const row of sheet.rows.slice(at, at + TABLE_LINES)) {
      const before = day
      day = dayOf(row, sheet)
      if (day !== before) rows.push([day, '', '', ''])
      rows.push(cellsOf(row))
    }
    yield `${toTable(rows, { head: ['time', 'line', 'change', 'balance'], aligns: ALIGNS })}\n`
  }
  yield `${sheet.rows.length > 0 ? '\n' : ''}${count(sheet.rows.length, 'line')}\n\n`
  yield sheet.notes.map(note => `${wrapped(note, WIDTH)}\n`).join('')
}

const ALIGNS: Align[] = ['left', 'left', 'right', 'right']

const summaryTable = ({ summary }: Sheet): string =>
  toTable(
    summary.map(({ name, free, paid, total }) => [name, free, paid, total]),
    { head: ['', 'free', 'paid', 'total'], aligns: ['left', 'right', 'right', 'right'] },
  )

/** The offset is told where it changes, since a clock that is set back shows an hour twice. */
const dayOf = ({ at }: SheetRow, { hasOffsets }: Sheet): string => (hasOffsets ? `${at.day} ${at.offset}` : at.day)

const cellsOf = ({ at, what, details, amount, balance }: SheetRow): string[] => [
  at.time,
  [what, ...details.map(detail => wrapped(detail, WORDS_WIDTH))].join('\n'),
  figureText(amount),
  figureText(balance),
]

/** With room for the name of a part, so that all numbers of a column end below each other. */
const figureText = ({ total, parts }: Figure): string => {
  const [part = '0'] = parts
  if (part === '0') return `${total}     `
  return parts.length === 1 ? part : [`${total}     `, ...parts].join('\n')
}
