import { count, millionths } from '../../audit/decimal.ts'
import type { Fault } from '../../audit/fault.ts'
import type { Split } from '../../audit/lots.ts'
import { escapedByCode } from '../../domain/visible-text.ts'
import { faultToJson } from './json.ts'

/** A damaged log may hold any text, including characters that control a terminal. */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, found => {
    const escaped = JSON.stringify(found).slice(1, -1)
    // JSON escapes only some of these characters.
    return escaped === found ? escapedByCode(found) : escaped
  })

export const credits = millionths

/** A change of credits, with its sign. */
export const signedCredits = (micros: number): string => `${micros > 0 ? '+' : ''}${credits(micros)}`

/** The free and the paid part of credits, such as `4 free, 6 paid`; `0` if both are zero. */
export const split = ({ freeMicros, paidMicros }: Split, show = credits): string[] => {
  const sides = [freeMicros !== 0 && `${show(freeMicros)} free`, paidMicros !== 0 && `${show(paidMicros)} paid`]
  const moved = sides.filter(side => side !== false)
  return moved.length > 0 ? moved : ['0']
}

/** Breaks a text into lines of at most `width` characters, at spaces if possible. */
export const wrapped = (text: string, width: number): string =>
  (text.match(new RegExp(`\\S.{0,${width - 1}}(?=\\s|$)|\\S{1,${width}}`, 'gu')) ?? [])
    .map(line => line.trimEnd())
    .join('\n')

export const dayOf = (at: string): string => at.slice(0, 10)
export const timeOf = (at: string): string => at.slice(11, -1)

/** Characters of a long text that are shown: enough to recognise it. */
const MAX_SHOWN = 300

/** Cuts a long text, and adds its length. */
export const shortened = (text: string, limit = MAX_SHOWN): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… (${count(text.length, 'character')})`

/** Such as `0.277 s`, `2 min 3 s`, or `5 h 0 min`. */
export const duration = (ms: number): string => {
  if (ms < 0) return `−${duration(-ms)}`
  if (ms < MINUTE_MS) return `${ms / 1000} s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / 1000)} s`
  return `${Math.floor(ms / HOUR_MS).toLocaleString('en')} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The width of the indented lines of a section, in 100 columns. */
export const SECTION_WIDTH = 96

/** A heading with the lines below it. */
export const section = (heading: string, text: string): string =>
  [heading, ...text.split('\n').map(line => line && `  ${line}`)].join('\n')

/** Reports breaks in the chain of an account's events; nothing if the chain is whole. */
export const chainToText = (faults: Fault[], account: string): string[] => {
  const [first] = faults
  if (!first) return []
  return [
    `The chain of events is broken: ${count(faults.length, 'fault')}, first at revision ${first.revision}: ` +
      `${printable(first.what)}.\n"tollgate audit verify ${account}" names them all.`,
  ]
}

export const chainToJson = (faults: Fault[]) => ({
  chain_is_whole: faults.length === 0,
  chain_faults: faults.map(faultToJson),
})
