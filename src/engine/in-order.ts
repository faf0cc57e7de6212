import type { Position } from '../../schemas/recorded.ts'
import { Unavailable } from '../ports/faults.ts'

interface Placed {
  stream: string
  revision: number
  position: Position
}

/**
 * Throws Unavailable unless each event comes after the one before it, in the log and in its own stream, and the first
 * one after a position. An event log that resumes a read may repeat events or swap them; folding them would count a
 * debit twice. Another read puts that right.
 */
export const checkOrder = (events: readonly Placed[], after: Position): void => {
  let reached = after
  const revisions = new Map<string, number>()
  for (const { stream, revision, position } of events) {
    if (position <= reached)
      throw new Unavailable(`the event log handed over position ${position} after position ${reached}`)
    const before = revisions.get(stream)
    if (before !== undefined && revision !== before + 1)
      throw new Unavailable(`the event log handed over revision ${revision} of ${stream} after revision ${before}`)
    reached = position
    revisions.set(stream, revision)
  }
}
