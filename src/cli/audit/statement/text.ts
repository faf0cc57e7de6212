import { count } from '../../../audit/decimal.ts'
import type { Figure, Sheet, SheetRow } from '../../../audit/statement/sheet.ts'
import type { Statement } from '../../../audit/statement/statement.ts'
import { padded, toColumns } from '../../columns.ts'
import { wrapped } from '../text.ts'
import { sheetOf } from './sheet.ts'

/** The width of a page, and the widths of columns that usually fit. */
const WIDTH = 100
const TIME_WIDTH = 17
const WORDS_WIDTH = 36

/**
 * A statement as tables for a terminal, in pieces. The table of lines has columns of fixed width: a library that fits
 * columns to their contents takes seconds for the lines of a month.
 */
export function* statementToText(statement: Statement): Generator<string> {
  const sheet = sheetOf(statement)
  yield `${sheet.title}\n\n${toColumns(sheet.facts)}\n\n${summaryTable(sheet)}\n\n`
  const figureWidth = figureWidthOf(sheet)
  if (sheet.rows.length > 0) yield beside([['time'], ['line'], ['change'], ['balance']], figureWidth)
  let day = ''
  for (const row of sheet.rows) {
    const before = day
    day = dayOf(row, sheet)
    if (day !== before) yield `${day}\n`
    yield beside(cellsOf(row), figureWidth)
  }
  yield `${sheet.rows.length > 0 ? '\n' : ''}${count(sheet.rows.length, 'line')}\n\n`
  yield sheet.notes.map(note => `${wrapped(note, WIDTH)}\n`).join('')
}

/** Cells of one or more lines, side by side. */
const beside = ([times = [], words = [], ...figures]: string[][], figureWidth: number): string => {
  const height = Math.max(...[times, words, ...figures].map(({ length }) => length))
  const lines = Array.from({ length: height }, (_, at) => {
    const texts = `${padded(times[at] ?? '', TIME_WIDTH)}  ${padded(words[at] ?? '', WORDS_WIDTH)}`
    return [texts, ...figures.map(column => (column[at] ?? '').padStart(figureWidth))].join('  ').trimEnd()
  })
  return `${lines.join('\n')}\n`
}

const figureWidthOf = ({ rows }: Sheet): number => {
  let width = 0
  for (const { amount, balance } of rows)
    for (const figure of [amount, balance]) for (const line of figureLines(figure)) width = Math.max(width, line.length)
  return width
}

const summaryTable = ({ summary }: Sheet): string =>
  toColumns(
    summary.map(({ name, free, paid, total }) => [name, free, paid, total]),
    { head: ['', 'free', 'paid', 'total'], aligns: ['left', 'right', 'right', 'right'] },
  )

/** The offset is shown when it changes, because a clock that is set back shows an hour twice. */
const dayOf = ({ at }: SheetRow, { hasOffsets }: Sheet): string => (hasOffsets ? `${at.day} ${at.offset}` : at.day)

const cellsOf = ({ at, what, details, amount, balance }: SheetRow): string[][] => [
  [at.time],
  [what, ...details].flatMap(text => wrapped(text, WORDS_WIDTH).split('\n')),
  figureLines(amount),
  figureLines(balance),
]

/** Leaves space for ` free` or ` paid`, so that the numbers of a column align. */
const figureLines = ({ total, parts }: Figure): string[] => {
  const [part = '0'] = parts
  if (part === '0') return [`${total}     `]
  return parts.length === 1 ? [part] : [`${total}     `, ...parts]
}
