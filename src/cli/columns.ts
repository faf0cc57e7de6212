export type Align = 'left' | 'right'

interface Options {
  head?: string[]
  aligns?: Align[]
}

/**
 * A table whose cells may have several lines. Lines have no trailing spaces. A library took a hundred times as long,
 * and a history has thousands of rows.
 */
export const toColumns = (rows: string[][], { head, aligns = [] }: Options = {}): string => {
  const all = [...(head ? [head] : []), ...rows].map(row => row.map(text => text.split('\n')))
  const widths: number[] = []
  for (const row of all)
    for (const [index, lines] of row.entries())
      for (const line of lines) widths[index] = Math.max(widths[index] ?? 0, widthOf(line))
  return all.map(cells => beside(cells, widths, aligns)).join('\n')
}

/** Pads a text with spaces. */
export const padded = (text: string, width: number, align: Align = 'left'): string => {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  return align === 'left' ? text + space : space + text
}

const GAP = '  '

/** Cells of one or more lines, side by side. */
const beside = (cells: string[][], widths: number[], aligns: Align[]): string => {
  const height = Math.max(...cells.map(({ length }) => length))
  const lines = Array.from({ length: height }, (_, at) =>
    cells.map((cell, index) => padded(cell[at] ?? '', widths[index] ?? 0, aligns[index])),
  )
  return lines.map(texts => texts.join(GAP).trimEnd()).join('\n')
}

/** Terminals show emoji and the characters of some scripts two columns wide. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Emoji_Presentation}/gu

const widthOf = (text: string): number => [...text].length + (text.match(WIDE)?.length ?? 0)
