import { sha256 } from '../../src/domain/digest.ts'
import type { SealCopy } from '../../src/ports/seal-sink.ts'

/** Copies of made-up seals, for sinks, which look at nothing but their numbers and links. */
export const sealCopies = (...numbers: number[]): SealCopy[] =>
  numbers.map(number => {
    const link = sha256(`${number}`)
    return { number, link, name: `${number}:sha256-${link}`, text: JSON.stringify({ link, number, object: 'seal' }) }
  })
