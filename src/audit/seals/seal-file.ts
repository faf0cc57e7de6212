import { open } from 'node:fs/promises'
import { LogSealed } from '../../../schemas/seal-events.ts'
import { compileGuard } from '../../engine/log/guard.ts'
import { Damaged } from '../../ports/faults.ts'
import { sealName } from '../../services/seals/seal-name.ts'
import type { KeptSeal } from './kept-seal.ts'

/**
 * The seals in a file that the service has written, one in each line. The last line may be incomplete, because the
 * service was writing it. Rejects with Damaged for a file of something else.
 */
export const readSealFile = async (path: string): Promise<KeptSeal[]> => {
  const file = await open(path)
  const seals: KeptSeal[] = []
  let odd: number | undefined
  let number = 0
  for await (const line of file.readLines()) {
    number += 1
    if (odd !== undefined) break
    const seal = sealIn(line)
    if (seal) seals.push(seal)
    else odd = number
  }
  if (odd !== undefined && (odd < number || seals.length === 0)) throw new Damaged(`${path}, line ${odd} is no seal`)
  if (seals.length === 0) throw new Damaged(`${path} has no seals`)
  return seals
}

const isSeal = compileGuard(LogSealed)

/** The seal by what it signs, which every line has. Those from before seals had names have no other name. */
const sealIn = (line: string): KeptSeal | undefined => {
  try {
    const { data } = JSON.parse(line) as { data?: unknown }
    return isSeal(data) ? { number: data.number, name: sealName(data) } : undefined
  } catch {
    return undefined
  }
}
