import { randomBytes, randomUUID } from 'node:crypto'
import { v7 } from 'uuid'
import type { Random } from '../../ports/random.ts'

export const systemRandom: Random = {
  fraction: () => Math.random(),
  hex: bytes => randomBytes(bytes).toString('hex'),
  uuid: () => randomUUID(),
  risingUuid: () => v7(),
}
