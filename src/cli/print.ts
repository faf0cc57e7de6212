import { toColumns } from './columns.ts'

/** Prints one object, as JSON or as a list of fields. */
export const printOne = (thing: Record<string, unknown>, { json }: { json?: boolean }) => {
  if (json) return console.log(JSON.stringify(thing))
  console.log(toColumns(Object.entries(thing).map(([name, value]) => [words(name), show(value)])))
}

/** Prints a list of objects, as JSON or as a table. */
export const printMany = (things: Record<string, unknown>[], { json }: { json?: boolean }, none: string) => {
  if (json) return console.log(JSON.stringify(things))
  const [first] = things
  if (!first) return console.log(none)
  console.log(
    toColumns(
      things.map(thing => Object.values(thing).map(show)),
      { head: Object.keys(first).map(words) },
    ),
  )
}

const words = (name: string): string => name.replaceAll('_', ' ')

const show = (value: unknown): string => (value === undefined || value === null ? '–' : String(value))
