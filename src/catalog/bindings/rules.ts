import type { ParameterRule } from '../../../schemas/binding.ts'

type Scalar = string | number | boolean

/** Parameters with the same names and values at the provider. */
export const same = (...names: string[]): ParameterRule[] => names.map(name => ({ from: name, to: name }))

/** The conversation, whose images are loaded. */
export const conversation: ParameterRule = { from: 'messages', to: 'messages', as: 'messages' }

/** Values that are the provider's defaults, so nothing is sent. The binding refuses other values. */
export const implied = (from: string, ...only: Scalar[]): ParameterRule => ({ from, only })

/** A parameter that the vendor does not have, and that only allows less than the request. */
export const unsaid = (from: string): ParameterRule => ({ from })

/** A text that is not sent if it is empty. */
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

/** Width and height for each of the family's values, written as `1024x768`. */
export const sizes = (table: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(table).map(([value, size]) => [value, sizeOf(size)]))

const sizeOf = (size: string) => {
  const [width, height] = size.split('x').map(Number)
  return { width, height }
}

/** Values of two parameters that together decide a size: a table for each value of the first parameter. */
export const pairs = (tables: Record<string, Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(tables).flatMap(([first, table]) =>
      Object.entries(table).map(([second, value]) => [`${first} ${second}`, value]),
    ),
  )
