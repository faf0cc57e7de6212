import Table from 'cli-table3'
import type { Align } from './columns.ts'

/** Prints one object, as JSON or as a list of fields. */
export const printOne = (thing: Record<string, unknown>, { json }: { json?: boolean }) => {
  if (json) return console.log(JSON.stringify(thing))
  const table = new Table(plain)
  for (const [name, value] of Object.entries(thing)) table.push([words(name), show(value)])
  console.log(table.toString())
}

/** Prints a list of objects, as JSON or as a table. */
export const printMany = (things: Record<string, unknown>[], { json }: { json?: boolean }, none: string) => {
  if (json) return console.log(JSON.stringify(things))
  const [first] = things
  if (!first) return console.log(none)
  const table = new Table({ ...plain, head: Object.keys(first).map(words) })
  for (const thing of things) table.push(Object.values(thing).map(show))
  console.log(table.toString())
}

/** A table whose texts may have several lines each, without white space at their ends. */
export const toTable = (rows: string[][], { head, aligns }: { head?: string[]; aligns?: Align[] } = {}): string => {
  const table = new Table({ ...plain, ...(head && { head }), ...(aligns && { colAligns: aligns }) })
  table.push(...rows)
  return table
    .toString()
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n')
}

const edges = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
const inner = ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle']
const plain = {
  chars: { ...Object.fromEntries([...edges, ...inner].map(name => [name, ''])), middle: '  ' },
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
}

const words = (name: string): string => name.replaceAll('_', ' ')

const show = (value: unknown): string => (value === undefined || value === null ? '–' : String(value))
