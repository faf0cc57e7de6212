/** A text is no table. `line` counts from 1. */
export class NoTable extends Error {
  override name = 'NoTable'

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

/** The rows of a table by RFC 4180, after its first row. Throws NoTable, also if the table lacks one of the columns. */
export const csvRows = (text: string, columns: readonly string[]): CsvRow[] => {
  const [head, ...rows] = [...rowsOf(text.replace(/^\uFEFF/, ''))]
  if (!head) throw new NoTable(1, 'the file is empty')
  const missing = columns.filter(column => !head.cells.includes(column))
  if (missing.length > 0) throw new NoTable(1, `the table has no column ${missing.join(', ')}`)
  return rows.map(({ line, cells }) => {
    if (cells.length !== head.cells.length)
      throw new NoTable(line, `the row has ${cells.length} cells, and the first row has ${head.cells.length}`)
    return { line, cell: column => cells[head.cells.indexOf(column)] ?? '' }
  })
}

/** A cell with what ends it: a comma, or the end of the row. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y

function* rowsOf(text: string): Generator<{ line: number; cells: string[] }> {
  let [at, line, begin] = [0, 1, 1]
  let cells: string[] = []
  while (at < text.length || cells.length > 0) {
    CELL.lastIndex = at
    const [all, quoted, plain = '', end] = CELL.exec(text) ?? []
    if (all === undefined) throw new NoTable(line, 'a quotation mark is not where one may be')
    at += all.length
    line += all.split('\n').length - 1
    cells.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    // A last line without text is no row.
    if (cells.length > 1 || cells[0] !== '') yield { line: begin, cells }
    cells = []
    begin = line
  }
}
