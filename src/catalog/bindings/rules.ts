import type { ParameterRule } from '../../../schemas/binding.ts'

type Scalar = string | number | boolean

/** Parameters that the provider has by the same name and with the same values. */
export const same = (...names: string[]): ParameterRule[] => names.map(name => ({ from: name, to: name }))

/** Values of which nothing is sent, since the provider does the same without being told. Others are refused. */
export const implied = (from: string, ...only: Scalar[]): ParameterRule => ({ from, only })

/** A parameter that the vendor has no word for, and whose every value leaves the result within what was asked for. */
export const unsaid = (from: string): ParameterRule => ({ from })

/** A text of which nothing is sent if it is empty. */
export const unlessEmpty = (from: string, to = from): ParameterRule => ({ from, to, omit: [''] })

/** A switch that has the opposite meaning at the provider. */
export const negated = (from: string, to: string): ParameterRule => ({
  from,
  to,
  values: { true: false, false: true },
})

/** Whole numbers that the provider takes as text with a unit. */
export const withUnit = (from: string, unit: string, values: number[], to = from): ParameterRule => ({
  from,
  to,
  values: Object.fromEntries(values.map(value => [value, `${value}${unit}`])),
})

/** The whole numbers from the first to the last one. */
export const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** Width and height for each of our values, written as `1024x768`. */
export const sizes = (table: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(table).map(([value, size]) => [value, sizeOf(size)]))

const sizeOf = (size: string) => {
  const [width, height] = size.split('x').map(Number)
  return { width, height }
}

/** Values of two parameters that decide a size together: a table for each value of the first one. */
export const pairs = (tables: Record<string, Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(tables).flatMap(([first, table]) =>
      Object.entries(table).map(([second, value]) => [`${first} ${second}`, value]),
    ),
  )
