import type { Fault } from '../fault.ts'
import type { LoginFact } from './logins.ts'
import type { NewestSeal } from './seals.ts'

/** A fault, and the number of the event at which it takes its place among those of other parts. */
export interface Found {
  at: number
  fault: Fault
}

/** A fault of a stream's end. `at` is the number of its first event. */
export interface FoundAtEnd extends Found {
  /** It is a fault only if the log has an event after this time. */
  afterMs?: number
}

/** What one part finds. */
export interface Findings {
  /** The number of events that were read, of which this part has checked some. */
  read: number
  events: number
  streams: number
  /** Whether one account is checked, and the log has no such account. */
  lacksAccount: boolean
  /** The time of the newest event that this part has checked; empty if there is none. */
  newestAt: string
  found: Found[]
  foundAtEnd: FoundAtEnd[]
  /** The seals that were kept, and that the log does not hold. */
  lost: Fault[]
  /** Whether the log does not hold a seal that was kept, and that may be forged. */
  isInDoubt: boolean
  logins: LoginFact[]
  /** The next two only in the first part. */
  seal?: NewestSeal
  unsealed: number
}
