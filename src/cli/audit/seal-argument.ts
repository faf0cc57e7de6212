import type { SealPlace } from '../../ports/seal-sink.ts'
import { OperatorError } from '../operator-error.ts'
import { UNABLE } from './with-log.ts'

/** Parses a seal with its link, such as 12:6cdf…. Throws OperatorError if it is none. */
export const parseSeal = (option: string, text: string): SealPlace => {
  const [, number, link] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (link) return { number: Number(number), link }
  throw new OperatorError(`${option} must be a seal such as 12:6cdf…, with 64 hexadecimal digits.`, UNABLE)
}

/** Parses a seal by its number, with or without its link. Throws OperatorError if it is none. */
export const parseNamedSeal = (option: string, text: string): { number: number; link?: string } => {
  if (/^\d{1,15}$/.test(text)) return { number: Number(text) }
  if (text.includes(':')) return parseSeal(option, text)
  throw new OperatorError(`${option} must be the number of a seal, such as 12, or a seal such as 12:6cdf….`, UNABLE)
}
