import { BEFORE_FIRST } from '../../ports/event-log.ts'
import { type Checkpoint, DAMAGED } from '../../ports/view-store.ts'

/** The text of a checkpoint, with the number of cells (rows and entries) of its store. */
export const checkpointText = (checkpoint: Checkpoint, cells: number): string =>
  JSON.stringify({ ...checkpoint, cells })

/**
 * Parses a checkpoint; undefined without one. DAMAGED if a projector did not write it, or if the store has another
 * number of cells. Earlier versions stored no number.
 */
export const toCheckpoint = (json: string | null | undefined, cells?: number): Checkpoint | undefined => {
  const found = parseJson<Checkpoint & { cells?: number }>(json)
  if (found === undefined) return cells ? DAMAGED : undefined
  if (!isReadable(found)) return DAMAGED
  const { cells: named = cells, ...checkpoint } = found
  return cells === undefined || named === cells ? checkpoint : DAMAGED
}

const isReadable = (found: Checkpoint | null): boolean =>
  Number.isSafeInteger(found?.position) &&
  (found?.position as number) > BEFORE_FIRST &&
  found?.versions !== null &&
  [found?.eventId, found?.origin].every(id => typeof id === 'string')

/** Text that the service did not write becomes null, which callers treat like any other forged value. */
export const parseJson = <Value>(json: string | null | undefined): Value | undefined => {
  if (typeof json !== 'string') return undefined
  try {
    return JSON.parse(json)
  } catch {
    return null as Value
  }
}
