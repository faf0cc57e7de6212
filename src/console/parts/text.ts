import { fromMicros } from '../../domain/money.ts'

/** Credits with all of their decimals, thousands separated, and a true minus sign: `−1,234.5`. */
export const credits = (micros: number): string => decimal(fromMicros(micros))

/** A number with up to six decimals, or as many as given. */
export const decimal = (value: number, places = 6): string => {
  // A new one would look up the language, which takes 40 times as long as a number.
  const format = formats.get(places) ?? new Intl.NumberFormat('en', { maximumFractionDigits: places })
  formats.set(places, format)
  return format.format(value).replace('-', '−')
}

const formats = new Map<number, Intl.NumberFormat>()

/** US dollars, with up to four decimals: `$0.015`. */
export const dollars = (micros: number): string =>
  `$${fromMicros(micros).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`

/** `1 run`, `1,234 runs`. */
export const plural = (count: number, noun: string): string => `${decimal(count)} ${noun}${count === 1 ? '' : 's'}`

/** `38 ms`, `1.34 s`, `2 min 5 s`. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${decimal(Math.round(ms / 10) / 100)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** `4 KB`, `1.5 MB`. */
export const size = (bytes: number): string => {
  if (bytes < 1024) return plural(bytes, 'byte')
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`
  return `${decimal(Math.round((bytes / 1024 / 1024) * 10) / 10)} MB`
}

/** A side of an image is counted in pixels. */
export const SIDES: Readonly<Record<string, string>> = { width: 'px wide', height: 'px high' }
