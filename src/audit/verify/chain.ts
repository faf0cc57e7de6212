import { hash } from 'node:crypto'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'

interface Head {
  revision: number
  format: number
  at: string
  hash: string
}

/**
 * Checks that the events of a stream are unchanged: their revisions, formats, links and times (`docs/ledger-format.md`,
 * "Verifying a log", steps 1 to 5). After a fault it continues from the faulty event, so each fault is reported once.
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
    if (!FORMATS.includes(format)) return report(`its ledger format ${format} is unknown`)
    if (before && format < before.format) report(`its ledger format falls from ${before.format} to ${format}`)
    if (follows && !isLinked(before?.hash, event)) report('its link does not match what was written')
    if (before && at < before.at) report(`its time ${at} is before that of the event before it`, ...noteIn(format))
    if (clock !== undefined && clock >= at) report(`its clock ${clock} is not behind its time ${at}`)
  }
}

/** The formats in `docs/ledger-format.md`. */
const FORMATS = [1, 2, 3, 4]

/** In format 1, the time followed the machine's clock, even backwards. */
const noteIn = (format: number): [true] | [] => (format === 1 ? [true] : [])

const gap = (last: number, revision: number): string => {
  if (revision <= last) return `revision ${revision} comes again after revision ${last}`
  const missing = revision - last - 1
  return missing === 1 ? `revision ${last + 1} is missing` : `revisions ${last + 1} to ${revision - 1} are missing`
}

/**
 * Whether the link of an event is correct (`docs/ledger-format.md`, "Links"). Shares no code with the writer of links,
 * so only the same mistake in both would go unnoticed.
 */
const isLinked = (previous: string | undefined, event: RawEvent): boolean => {
  const { metadata } = event as { metadata: Metadata | null }
  if (typeof metadata !== 'object' || metadata === null) return false
  try {
    return linkOf(previous, event as RawEvent & { metadata: Metadata }) === metadata.hash
  } catch {
    // The service writes nothing without a canonical form.
    return false
  }
}

type Metadata = { format?: number; hash?: string }

const linkOf = (
  previous: string | undefined,
  { stream, revision, id, type, data, stored = data, metadata }: RawEvent & { metadata: Metadata },
): string => {
  const { hash: _, ...rest } = metadata
  const { format = 1 } = rest
  if (format === 1) return sha256((previous ?? NO_LINK) + canonical({ data, metadata: rest, type }))
  const shown = format === 2 ? stored : withoutCost(stored as { cost?: unknown })
  const [dataDigest, metadataDigest] = [sha256(canonical(shown)), sha256(canonical(rest))]
  // This text is canonical, because its members are in order.
  const text =
    `{"data":"${dataDigest}","format":${format},"id":${quoted(id)},"metadata":"${metadataDigest}",` +
    `"revision":${revision},"stream":${quoted(stream)},"type":${quoted(type)}}`
  return sha256((previous ?? sha256(canonical({ format, stream }))) + text)
}

/** A link covers the digest of a cost, so that the other data can be shown without the cost. */
const withoutCost = (data: { cost?: unknown }): object =>
  data.cost === undefined ? data : { ...data, cost: sha256(canonical(data.cost)) }

/** In place of a link, the start of a stream in format 1. */
const NO_LINK = '0'.repeat(64)

const sha256 = (text: string): string => hash('sha256', text, 'hex')

/** The canonical form of a JSON value (RFC 8785). Throws for an unpaired surrogate, which has none. */
const canonical = (value: unknown): string => {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const each of value) text += `${text && ','}${canonical(each)}`
    return `[${text}]`
  }
  const members = value as Record<string, unknown>
  for (const name of Object.keys(members).sort()) {
    const member = members[name]
    // As in JSON, a member without a value is left out.
    if (member !== undefined) text += `${text && ','}${quoted(name)}:${canonical(member)}`
  }
  return `{${text}}`
}

const quoted = (text: string): string => {
  if (PLAIN.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new TypeError('half of a character has no canonical form')
  return JSON.stringify(text)
}

const PLAIN = /^[ !#-[\]-~]*$/
