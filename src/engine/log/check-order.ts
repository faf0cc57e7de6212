import type { Position } from '../../../schemas/recorded.ts'
import { Unavailable } from '../../ports/faults.ts'

interface Placed {
  stream: string
  revision: number
  position: Position
}

/**
 * Throws Unavailable if the events are out of order in the log or in a stream, or do not follow `after`. A read that
 * resumes may repeat or swap events, and folding one twice would corrupt a state.
 */
export const checkOrder = (events: readonly Placed[], after: Position): void => {
  let reached = after
  const revisions = new Map<string, number>()
  for (const { stream, revision, position } of events) {
    if (position <= reached)
      throw new Unavailable(`the event log returned position ${position} after position ${reached}`)
    const before = revisions.get(stream)
    if (before !== undefined && revision !== before + 1)
      throw new Unavailable(`the event log returned revision ${revision} of ${stream} after revision ${before}`)
    reached = position
    revisions.set(stream, revision)
  }
}
