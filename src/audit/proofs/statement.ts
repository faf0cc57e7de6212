import { accountStream, CATALOG_STREAM } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { ProvenEvent, ProvenLeaf, StatementProof } from '../../../schemas/proof.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { emptyLogTree, withLink } from '../../domain/seals/log-tree.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { PROOF, previousOf, provenEvent, provenSeal, textsOf } from '../../services/seals/proof-parts.ts'
import type { OnProgress } from '../read-log.ts'
import { movesCredits } from '../verify/account.ts'
import { type FoundSeal, findSeal, type NamedSeal, NoProof, readSealed, type SealedLog } from './sealed-log.ts'

interface StatementOptions {
  /** By default, the statement starts when the account was opened. */
  from?: NamedSeal | undefined
  /** By default, the newest seal. */
  to?: NamedSeal | undefined
  onProgress?: OnProgress | undefined
}

/**
 * Proves all events of an account up to a seal, or between two seals. Throws NoProof if the seals do not cover them.
 */
export const proveStatement = async (
  log: ReadableLog,
  account: string,
  { from, to, onProgress }: StatementOptions = {},
): Promise<StatementProof> => {
  const seals = [...(from ? [await findSeal(log, from)] : []), await findSeal(log, to)]
  const [first, last] = [seals[0] as FoundSeal, seals.at(-1) as FoundSeal]
  if (seals.length === 2 && first.seal.number >= last.seal.number)
    throw new NoProof('Name the earlier seal as --from, and a later one as --to.')
  const stream = accountStream(account as AccountId)
  const sealed = await readSealed(log, seals, [stream, CATALOG_STREAM], onProgress)
  const sealedAccounts = seals.map((found, index) => ({
    seal: provenSeal(found.raw),
    leaf: leafUnder(found, stream, sealed.leaves[index]),
  }))
  const end = sealedAccounts.at(-1) as StatementProof['to']
  const before = from ? sealedAccounts[0] : undefined
  const events = await eventsOf(log, stream, before?.leaf.revision, end.leaf.revision)
  const start = events[0] as RawEvent
  const links = sealed.links.get(stream) as string[]
  const catalog = await provenCatalog(log, events, sealed)
  return {
    ...{ ...PROOF, kind: 'statement' },
    ...(before && { from: before }),
    to: end,
    start: {
      revision: start.revision,
      previous: previousOf(start, links[start.revision - 1]),
      tree: [...links.slice(0, start.revision).reduce(withLink, emptyLogTree).hashes],
    },
    events: events.map(textsOf),
    ...(catalog && { catalog }),
  }
}

const leafUnder = ({ seal }: FoundSeal, stream: string, leaves: Map<string, ProvenLeaf> | undefined): ProvenLeaf => {
  const leaf = leaves?.get(stream)
  if (leaf) return leaf
  throw new NoProof(`Seal ${seal.number} covers no event of the account: it is unknown, or was opened later.`)
}

/** The events of an account from the last movement of credits at or before `from` up to another revision. */
const eventsOf = async (log: ReadableLog, stream: string, from = -1, to: number): Promise<RawEvent[]> => {
  let events: RawEvent[] = []
  for await (const page of log.readStream(stream, 0))
    for (const event of page) {
      if (event.revision <= from && movesCredits(event.type)) events = []
      if (event.revision <= to) events.push(event)
    }
  return events
}

/** The catalog events that the receipts name. */
const provenCatalog = async (
  log: ReadableLog,
  events: RawEvent[],
  { links, leaves }: SealedLog,
): Promise<StatementProof['catalog']> => {
  const leaf = leaves.at(-1)?.get(CATALOG_STREAM)
  const named = new Set(events.filter(({ type }) => type === 'CreditsDebited').map(catalogRevisionOf))
  if (!leaf || named.size === 0) return undefined
  const linksOfCatalog = links.get(CATALOG_STREAM) as string[]
  const proven: ProvenEvent[] = []
  for (const revision of [...named].sort((one, other) => one - other)) {
    const event = revision <= leaf.revision ? await log.readEvent(CATALOG_STREAM, revision) : undefined
    if (!event) throw new Damaged(`a receipt names catalog revision ${revision}, which the seal does not cover`)
    proven.push(provenEvent(event, linksOfCatalog))
  }
  return { leaf, events: proven }
}

const catalogRevisionOf = ({ data }: RawEvent): number =>
  (data as { receipt: { catalogRevision: number } }).receipt.catalogRevision
