import type { ParametersSchema } from '../../../schemas/catalog.ts'
import { sha256 } from '../digest.ts'

/** A seed that follows from a run's ID, within the bounds of the endpoint's schema; undefined if it takes no seed. */
export const drawSeed = ({ properties }: ParametersSchema, runId: string): number | undefined => {
  const { type, minimum, maximum } = properties['seed'] ?? {}
  if (type !== 'integer' || typeof minimum !== 'number' || typeof maximum !== 'number') return undefined
  return minimum + (Number.parseInt(sha256(runId).slice(0, 12), 16) % (maximum - minimum + 1))
}
