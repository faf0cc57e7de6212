import type { RawEvent } from '../../schemas/recorded.ts'
import { Damaged } from '../ports/faults.ts'

/** What is wrong with an event, with its place; undefined if it can be taken. */
export const faultOf = (event: RawEvent, take: () => void): string | undefined => {
  try {
    take()
    return undefined
  } catch (error) {
    if (error instanceof Damaged) return placed(error.message, event)
    throw error
  }
}

const placed = (fault: string, { stream, revision }: RawEvent): string => {
  const what = fault.replace(/; see what tollgate audit verify finds$/, '')
  return what.includes(stream) ? what : `${stream}, revision ${revision}: ${what}`
}
