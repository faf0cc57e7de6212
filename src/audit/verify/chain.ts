import type { RawEvent } from '../../../schemas/recorded.ts'
import { FORMAT, type Linkable, link } from '../../engine/log/hash-chain.ts'
import type { Report } from '../fault.ts'

interface Head {
  revision: number
  format: number
  at: string
  hash: string
}

/**
 * Checks that the events of a stream are as they were written: their revisions, formats, links and times
 * (`docs/ledger-format.md`, "Verifying a log", steps 1 to 5). After a fault it goes on from the event that it was found
 * at, so that each fault is reported once.
 */
export class Chain {
  #head: Head | undefined

  /** The revision of the newest event; -1 before the first. */
  get revision(): number {
    return this.#head?.revision ?? -1
  }

  take(event: RawEvent, report: Report) {
    const { revision } = event
    const { format = 1, at = '', clock, hash = '' } = (event.metadata ?? {}) as Partial<Head> & { clock?: string }
    const before = this.#head
    this.#head = { revision, format, at, hash }
    const follows = revision === (before?.revision ?? -1) + 1
    if (!follows) report(gap(before?.revision ?? -1, revision))
    if (format !== 1 && format !== FORMAT) return report(`its ledger format ${format} is unknown`)
    if (before && format < before.format) report(`its ledger format falls from ${before.format} to ${format}`)
    if (follows && !isLinked(before?.hash, event)) report('its link does not match what was written')
    if (before && at < before.at) report(`its time ${at} is before that of the event before it`, ...noteIn(format))
    if (clock !== undefined && clock >= at) report(`its clock ${clock} is not behind its time ${at}`)
  }
}

/** In format 1 the time followed the clock of the machine, also back. */
const noteIn = (format: number): [true] | [] => (format === 1 ? [true] : [])

const gap = (last: number, revision: number): string => {
  if (revision <= last) return `revision ${revision} comes again after revision ${last}`
  const missing = revision - last - 1
  return missing === 1 ? `revision ${last + 1} is missing` : `revisions ${last + 1} to ${revision - 1} are missing`
}

/** An event whose contents have no canonical form cannot have been written by the service. */
const isLinked = (previous: string | undefined, event: RawEvent): boolean => {
  const { metadata } = event as Linkable
  if (typeof metadata !== 'object' || metadata === null) return false
  try {
    return link(previous, event as Linkable) === metadata.hash
  } catch {
    return false
  }
}
