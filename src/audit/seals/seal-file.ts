import { open } from 'node:fs/promises'
import { Damaged } from '../../ports/faults.ts'
import { placeIn, type SealPlace } from '../../ports/seal-sink.ts'

/**
 * The seals in a file that the service has written, one in each line. The last line may be incomplete, because the
 * service was writing it. Rejects with Damaged for a file of something else.
 */
export const readSealFile = async (path: string): Promise<SealPlace[]> => {
  const file = await open(path)
  const seals: SealPlace[] = []
  let odd: number | undefined
  let number = 0
  for await (const line of file.readLines()) {
    number += 1
    if (odd !== undefined) break
    const seal = placeIn(line)
    if (seal) seals.push(seal)
    else odd = number
  }
  if (odd !== undefined && (odd < number || seals.length === 0)) throw new Damaged(`${path}, line ${odd} is no seal`)
  if (seals.length === 0) throw new Damaged(`${path} has no seals`)
  return seals
}
