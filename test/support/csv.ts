/** The rows of a table in CSV by RFC 4180, as objects with the columns that its first row names. */
export const parseCsv = (text: string): Record<string, string>[] => {
  const [head = [], ...rows] = rowsOf(text)
  return rows.map(row => Object.fromEntries(head.map((name, index) => [name, row[index] ?? ''])))
}

const rowsOf = (text: string): string[][] => {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain = '', end = ''] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}
