/** The text is not a table. `line` counts from 1. */
export class NotATable extends Error {
  override name = 'NotATable'

  constructor(line: number, what: string) {
    super(`line ${line}: ${what}`)
  }
}

/** A row of a table, by the names in its first row. */
export interface CsvRow {
  /** The line of the text where the row begins. */
  line: number
  cell(column: string): string
}

/** The rows of a table by RFC 4180, after its first row. Throws NotATable, also if one of the columns is missing. */
export const csvRows = (text: string, columns: readonly string[]): CsvRow[] => {
  const [head, ...rows] = [...rowsOf(text.replace(/^\uFEFF/, ''))]
  if (!head) throw new NotATable(1, 'the file is empty')
  const missing = columns.filter(column => !head.cells.includes(column))
  if (missing.length > 0) throw new NotATable(1, `the table has no column ${missing.join(', ')}`)
  return rows.map(({ line, cells }) => {
    if (cells.length !== head.cells.length)
      throw new NotATable(line, `the row has ${cells.length} cells, and the first row has ${head.cells.length}`)
    return { line, cell: column => cells[head.cells.indexOf(column)] ?? '' }
  })
}

/** A cell, with the comma or the end of the row after it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y

function* rowsOf(text: string): Generator<{ line: number; cells: string[] }> {
  let [at, line, begin] = [0, 1, 1]
  let cells: string[] = []
  while (at < text.length || cells.length > 0) {
    CELL.lastIndex = at
    const [all, quoted, plain = '', end] = CELL.exec(text) ?? []
    if (all === undefined) throw new NotATable(line, 'a quotation mark is misplaced')
    at += all.length
    line += all.split('\n').length - 1
    cells.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    // An empty line is not a row.
    if (cells.length > 1 || cells[0] !== '') yield { line: begin, cells }
    cells = []
    begin = line
  }
}
