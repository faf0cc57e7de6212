import pLimit from 'p-limit'
import { accountStream, CATALOG_STREAM, SEALS_STREAM } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type {
  ConsistencyProof,
  EventTexts,
  InclusionProof,
  ProvenEvent,
  ProvenLeaf,
  StatementProof,
} from '../../../schemas/proof.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { refuse } from '../../domain/refusal.ts'
import { LinkLevels } from '../../domain/seals/link-levels.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { delay } from '../../time/timers.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, modeOf } from '../caller.ts'
import { parseRunId } from '../ids.ts'
import { isSeenWhole } from '../policies/redaction.ts'
import type { WaitingClient } from '../views/newest-first.ts'
import { linkOf, PROOF, placedEvent, previousOf, provenLeaf, provenSeal, textsOf } from './proof-parts.ts'
import { nextEvents, SealHistory } from './seal-history.ts'
import { NodeMissing, type TreeStore } from './tree-store.ts'

/** Events that may be read for a proof. Reading this many takes a few seconds. */
const MAX_EVENTS = 100_000

/** Proofs that may be made at a time. Each may hold the hashes of MAX_EVENTS events, about 20 MB. */
const MAX_AT_ONCE = 4

/** Making most proofs takes less. */
const RETRY_MS = 1000

interface Dependencies {
  log: Pick<EventLog, 'readStream' | 'readEvent'>
  trees: Pick<TreeStore, 'paths'>
  clock: Clock
}

type Matches = (event: RawEvent) => boolean

/** A stream under the newest seal, and the client that waits for its events. */
interface SealedStream {
  stream: string
  newest: RawEvent
  leaf: ProvenLeaf
  client: WaitingClient
}

/** Makes proofs from the stored tree of the newest seal. */
export class Proofs {
  readonly #dependencies: Dependencies
  readonly #seals: SealHistory
  /** One proof per account at a time, since each reads the account's events. */
  readonly #open = new OpenCounts<AccountId>(1)
  readonly #slots = pLimit(MAX_AT_ONCE)

  readonly permissions = { event: 'read', run: 'read', consistency: 'read', account: 'read', chain: 'read' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#seals = new SealHistory(dependencies)
  }

  /**
   * Proves an event of the caller's account. The caller must be allowed to see the whole event. Another account's event
   * is treated as absent. Rejects with Unavailable.
   */
  async event(caller: AccountCaller, eventId: string, client?: WaitingClient): Promise<Answer<InclusionProof>> {
    const { accountId } = caller
    // Only movements of credits show event IDs, and test keys have none.
    if (modeOf(caller).livemode === false) return refuse('event_not_found')
    return this.#alone(accountId, async () => {
      const proof = await this.#prove(caller, ({ id }) => id === eventId, client)
      return proof ?? refuse('event_not_found')
    })
  }

  /** Proves the debit of a run, by either form of the run's ID. */
  async run(caller: AccountCaller, id: string, client?: WaitingClient): Promise<Answer<InclusionProof>> {
    const { accountId } = caller
    if (modeOf(caller).livemode === false) return refuse('run_not_found')
    const runId = parseRunId(id)
    const isDebit = ({ type, data }: RawEvent) =>
      type === 'CreditsDebited' && (data as { runId: string }).runId === runId
    return this.#alone(accountId, async () => {
      const proof = runId && (await this.#prove(caller, isDebit, client))
      return proof ?? refuse('run_not_found')
    })
  }

  /** Proves that a seal follows an earlier one. */
  async consistency(_caller: AccountCaller, from: number, to: number): Promise<Answer<ConsistencyProof>> {
    if (from >= to) return refuse('seals_not_in_order')
    await this.#seals.catchUp()
    const [earlier, later] = [await this.#sealAt(from), await this.#sealAt(to)]
    if (!earlier || !later) return refuse('seal_not_found', { number: earlier ? to : from })
    const { links } = this.#seals
    return answer({
      ...{ ...PROOF, kind: 'consistency', earlier: provenSeal(earlier), later: provenSeal(later) },
      ...{ inclusion: links.inclusion(from, to), consistency: links.consistency(from, to) },
    })
  }

  /**
   * Proves all events of the caller's account up to the newest seal, with the prices that their receipts name. The
   * document comes in pieces, because an account may have millions of events: its first line is all but the events, and
   * each event is a line. Ends early if the client disconnects. Only the owner sees whole events.
   */
  async account(caller: AccountCaller, client: WaitingClient): Promise<Answer<AsyncGenerator<string, void>>> {
    if (caller.kind !== 'session') return refuse('event_not_shown')
    const stream = accountStream(caller.accountId)
    await this.#seals.catchUp()
    const { newest } = this.#seals
    const leaf = newest && (await this.#leafUnder(newest, stream))
    if (!newest || !leaf) return refuse('event_not_sealed')
    return answer(this.#textOf({ stream, newest, leaf, client }))
  }

  async *#textOf({ stream, newest, leaf, client }: SealedStream) {
    const catalog = await this.#catalogOf({ stream, newest, leaf, client })
    for await (const events of this.#pagesOf(stream, leaf.revision, client)) {
      const [first] = events
      if (first?.revision === 0) {
        const start = { revision: 0, previous: previousOf(first, undefined), tree: [] }
        const to = { seal: provenSeal(newest), leaf }
        const proof = { ...PROOF, kind: 'statement' as const, to, start, ...(catalog && { catalog }) }
        yield `${JSON.stringify(proof satisfies Omit<StatementProof, 'events'>).slice(0, -1)},"events":[\n`
      }
      yield textOf(events, leaf.revision)
    }
    if (!client.signal.aborted) yield ']}\n'
  }

  /**
   * All events of the caller's account so far, with the prices that their receipts name, to check them before a seal
   * covers them. In lines as those of `account`. The first has the link of the newest event.
   */
  async chain(caller: AccountCaller, client: WaitingClient): Promise<Answer<AsyncGenerator<string, void>>> {
    if (caller.kind !== 'session') return refuse('event_not_shown')
    return answer(this.#chainOf(accountStream(caller.accountId), client))
  }

  async *#chainOf(stream: string, client: WaitingClient) {
    const named = new Set<number>()
    let first: RawEvent | undefined
    let last: RawEvent | undefined
    for await (const events of this.#pagesOf(stream, Number.POSITIVE_INFINITY, client)) {
      first ??= events[0]
      last = events.at(-1) ?? last
      for (const revision of catalogRevisionsIn(events)) named.add(revision)
    }
    if (!first || !last) return
    const catalog: (EventTexts & { revision: number })[] = []
    for await (const events of named.size > 0 ? this.#pagesOf(CATALOG_STREAM, Math.max(...named), client) : [])
      for (const event of events)
        if (named.has(event.revision)) catalog.push({ revision: event.revision, ...textsOf(event) })
    const { at } = first.metadata as { at: string }
    const head = {
      stream,
      previous: previousOf(first, undefined),
      last: last.revision,
      head: linkOf(last),
      at,
      catalog,
    }
    yield `${JSON.stringify(head).slice(0, -1)},"events":[\n`
    for await (const events of this.#pagesOf(stream, last.revision, client)) yield textOf(events, last.revision)
    if (!client.signal.aborted) yield ']}\n'
  }

  /** The catalog events that the receipts of a stream name. Reads the stream once, and the catalog once. */
  async #catalogOf({ stream, newest, leaf: { revision }, client }: SealedStream): Promise<StatementProof['catalog']> {
    const named = new Set<number>()
    for await (const events of this.#pagesOf(stream, revision, client))
      for (const revision of catalogRevisionsIn(events)) named.add(revision)
    const leaf = named.size > 0 && (await this.#leafUnder(newest, CATALOG_STREAM))
    if (!leaf) return undefined
    const links = new LinkLevels()
    const found: { event: RawEvent; before: string | undefined }[] = []
    let before: string | undefined
    for await (const events of this.#pagesOf(CATALOG_STREAM, leaf.revision, client))
      for (const event of events) {
        if (named.has(event.revision)) found.push({ event, before })
        before = linkOf(event)
        links.add(before)
      }
    const prove = ({ event, before }: (typeof found)[number]): ProvenEvent =>
      placedEvent(event, before, links.inclusion(event.revision, leaf.revision + 1))
    return { leaf, events: client.signal.aborted ? [] : found.map(prove) }
  }

  /** The events of a stream up to a revision. Serves other requests between two pages. */
  async *#pagesOf(stream: string, last: number, client: WaitingClient) {
    let next = 0
    for await (const page of this.#dependencies.log.readStream(stream, 0)) {
      if (client.signal.aborted) return
      const events = [...nextEvents(page, next)].filter(({ revision }) => revision <= last)
      yield events
      next += events.length
      if (next > last) return
      await client.nextTurn()
    }
  }

  async #sealAt(number: number): Promise<RawEvent | undefined> {
    const event = await this.#dependencies.log.readEvent(SEALS_STREAM, number)
    return event?.type === 'LogSealed' ? event : undefined
  }

  async #alone<Value>(accountId: AccountId, make: () => Promise<Answer<Value>>): Promise<Answer<Value>> {
    const close = this.#open.open(accountId)
    if (!close) return refuse('too_many_proofs', { retryAfterMs: RETRY_MS })
    try {
      return await this.#slots(make)
    } finally {
      close()
    }
  }

  /** Undefined if the account has no matching event. */
  async #prove(
    caller: AccountCaller,
    matches: Matches,
    client: WaitingClient | undefined,
  ): Promise<Answer<InclusionProof> | undefined> {
    const stream = accountStream(caller.accountId)
    await this.#seals.catchUp()
    const { newest } = this.#seals
    const leaf = newest && (await this.#leafUnder(newest, stream))
    const { found, before, links } = await this.#read(stream, leaf?.revision ?? 0, matches, client)
    if (found === 'too many') return refuse('too_many_events', { limit: MAX_EVENTS })
    if (!found) return undefined
    if (!isSeenWhole(caller, found)) return refuse('event_not_shown')
    if (!newest || !leaf || leaf.revision < found.revision) return refuse('event_not_sealed')
    const size = leaf.revision + 1
    if (links.size < size || links.root(size) !== leaf.links)
      throw new Damaged(`${stream} does not match the newest seal; run "tollgate audit verify"`)
    const event = placedEvent(found, before, links.inclusion(found.revision, size))
    return answer({ ...PROOF, kind: 'inclusion', event, leaf, seal: provenSeal(newest) })
  }

  async #leafUnder({ data }: RawEvent, stream: string): Promise<ProvenLeaf | undefined> {
    const { root } = data as { root: string }
    try {
      return provenLeaf(root, stream, await this.#dependencies.trees.paths(root, [stream]))
    } catch (error) {
      if (!(error instanceof NodeMissing)) throw error
      // Two newer seals may have been made, or the views are new and the next seal rebuilds the tree.
      throw new Unavailable('the tree of the newest seal is not stored; try again after the next seal')
    }
  }

  /** The links of a stream up to a revision, the matching event, and the link before it. */
  async #read(stream: string, upTo: number, matches: Matches, client: WaitingClient | undefined) {
    const links = new LinkLevels()
    let found: RawEvent | undefined
    let before: string | undefined
    let last: string | undefined
    // The client may have left while it waited.
    if (client?.signal.aborted) return { found, before, links }
    for await (const page of this.#dependencies.log.readStream(stream, 0)) {
      for (const event of nextEvents(page, links.size)) {
        if (!found && matches(event)) [found, before] = [event, last]
        last = linkOf(event)
        links.add(last)
      }
      if (links.size > MAX_EVENTS) return { found: 'too many' as const, before, links }
      // Serves other requests between two pages.
      await (client?.nextTurn() ?? delay(this.#dependencies.clock, 0))
      if (client?.signal.aborted) return { found: undefined, before, links }
      if (found && links.size > upTo) break
    }
    return { found, before, links }
  }
}

/** Each event is a line. */
const textOf = (events: readonly RawEvent[], last: number): string =>
  events.map(event => JSON.stringify(textsOf(event)) + (event.revision < last ? ',\n' : '\n')).join('')

/** The revisions of the catalog that the receipts of debits name. */
const catalogRevisionsIn = (events: readonly RawEvent[]): number[] =>
  events
    .filter(({ type }) => type === 'CreditsDebited')
    .map(({ data }) => (data as { receipt: { catalogRevision: number } }).receipt.catalogRevision)
