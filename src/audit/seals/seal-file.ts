import { open } from 'node:fs/promises'
import { LogSealed } from '../../../schemas/seal-events.ts'
import { compileGuard } from '../../engine/log/guard.ts'
import { Damaged } from '../../ports/faults.ts'
import { sealName } from '../../services/seals/seals.ts'
import type { KeptSeal } from './kept-seal.ts'
import { isSigned, type SealKeys } from './seal-keys.ts'

/**
 * The seals in a file that the service has written, one in each line. The last line may be incomplete, because the
 * service was writing it. `keys` are those that the log adopted. Rejects with Damaged for a file of something else, and
 * for a line that its key has not signed: anybody could have written it, so it says nothing about the log.
 */
export const readSealFile = async (path: string, keys: SealKeys): Promise<KeptSeal[]> => {
  const file = await open(path)
  const seals: KeptSeal[] = []
  let odd: number | undefined
  let number = 0
  for await (const line of file.readLines()) {
    number += 1
    if (odd !== undefined) break
    const data = sealIn(line)
    if (data) seals.push(keptSeal(data, keys, `${path}, line ${number}`))
    else odd = number
  }
  if (odd !== undefined && (odd < number || seals.length === 0)) throw new Damaged(`${path}, line ${odd} is no seal`)
  if (seals.length === 0) throw new Damaged(`${path} has no seals`)
  return seals
}

const isSeal = compileGuard(LogSealed)

const sealIn = (line: string): LogSealed | undefined => {
  try {
    const { data } = JSON.parse(line) as { data?: unknown }
    return isSeal(data) ? data : undefined
  } catch {
    return undefined
  }
}

/** The seal by what it signs, which every line has. Those from before seals had names have no other name. */
const keptSeal = (data: LogSealed, keys: SealKeys, place: string): KeptSeal => {
  const { signature, ...signed } = data
  const { number, keyId } = data
  const key = keys.get(keyId)
  if (key && !isSigned(signed, signature, key)) throw new Damaged(`${place} is not signed with its key ${keyId}`)
  return { number, name: sealName(data), signer: { keyId, place, isAdopted: key !== undefined } }
}
