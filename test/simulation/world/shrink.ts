import { type Faults, noFaults } from './faults.ts'
import type { WorldOptions } from './world.ts'

/** A world, as small as its failure allows. */
export type WorldSize = Required<Omit<WorldOptions, 'keepsTrace'>>

/** Makes a world that fails smaller, one step at a time, as long as it still fails. */
export const shrink = async (size: WorldSize, fails: (size: WorldSize) => Promise<boolean>): Promise<WorldSize> => {
  for (const smaller of smallerThan(size)) if (await fails(smaller)) return shrink(smaller, fails)
  return size
}

function* smallerThan(size: WorldSize): Generator<WorldSize> {
  const { processes, clients, busyMs, without } = size
  if (busyMs > 1_000) yield { ...size, busyMs: Math.round(busyMs / 2) }
  if (processes > 1) yield { ...size, processes: processes - 1 }
  if (clients > 1) yield { ...size, clients: clients - 1 }
  for (const kind of Object.keys(noFaults) as (keyof Faults)[])
    if (!without.includes(kind)) yield { ...size, without: [...without, kind] }
}
