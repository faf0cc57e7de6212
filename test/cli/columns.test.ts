import Table from 'cli-table3'
import t from 'tap'
import { type Align, padded, toColumns } from '../../src/cli/columns.ts'
import { seededRandom } from '../support/seeded-random.ts'

const TEXTS = ['', 'a', '−1,234.5 free', 'two\nlines', 'one\ntwo and a half\nthree', 'Łódź', '山田', 'lake 🌊', ' in']

const EDGES = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
const INNER = ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle']
const plain = {
  chars: { ...Object.fromEntries([...EDGES, ...INNER].map(name => [name, ''])), middle: '  ' },
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
}

const byLibrary = (rows: string[][], { head, aligns }: { head?: string[]; aligns?: Align[] }): string => {
  const table = new Table({ ...plain, ...(head && { head }), ...(aligns && { colAligns: aligns }) })
  table.push(...rows)
  return table.toString().replaceAll(/ +$/gm, '')
}

t.test('columns are those of a library for tables', async t => {
  const random = seededRandom(5)
  const textOf = () => TEXTS[Math.floor(random() * TEXTS.length)] as string
  for (let round = 0; round < 40; round++) {
    const rows = Array.from({ length: 1 + round }, () => [textOf(), textOf(), `${textOf()}x`])
    for (const options of [{}, { head: ['first', '', 'third'] }, { aligns: ['right', 'left', 'right'] as const }]) {
      const aligns = 'aligns' in options ? { aligns: [...options.aligns] } : {}
      const all = { ...('head' in options && { head: options.head }), ...aligns }
      t.equal(toColumns(rows, all), byLibrary(rows, all))
    }
  }
})

t.test('a text is padded at one side, and never cut', async t => {
  t.equal(padded('ab', 4), 'ab  ')
  t.equal(padded('山', 4, 'right'), '  山')
  t.equal(padded('abcdef', 4), 'abcdef')
})
