import type { Fault } from '../../audit/fault.ts'
import { count } from '../../audit/words.ts'
import { faultToJson } from './json.ts'
import { printable } from './text.ts'

/** The faults of an account's chain that a reader of its history must know; nothing if it is whole. */
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
