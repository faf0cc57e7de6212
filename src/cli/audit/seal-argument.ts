import type { NamedSeal } from '../../audit/proofs/make/find-seal.ts'
import type { KeptSeal } from '../../audit/seals/kept-seal.ts'
import { OperatorError } from '../operator-error.ts'
import { UNABLE } from './with-log.ts'

/** Parses a name such as 12:sha256-6cdf…, or an old one such as 12:6cdf…. Throws OperatorError if it is none. */
export const parseSeal = (option: string, text: string): KeptSeal => {
  const [, digits, digest] = /^(0|[1-9]\d{0,14}):((?:sha256-)?[0-9a-f]{64})$/.exec(text) ?? []
  const number = Number(digits)
  if (digest) return { number, name: `${number}:${digest}` }
  throw new OperatorError(`${option} must be a seal such as 12:sha256-6cdf…, with 64 hexadecimal digits.`, UNABLE)
}

/** Parses a seal by its number, or by its name. Throws OperatorError if it is none. */
export const parseNamedSeal = (option: string, text: string): NamedSeal => {
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return { number: Number(text) }
  if (text.includes(':')) return parseSeal(option, text)
  throw new OperatorError(
    `${option} must be the number of a seal, such as 12, or its name, such as 12:sha256-6cdf….`,
    UNABLE,
  )
}
