import { PERIODS_STREAM, READS_STREAM, SEALS_STREAM } from '../../../schemas/events.ts'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import type { SealsState } from '../../domain/seals/seals.ts'
import { EMPTY_TREE, leafOf, type StreamLeaf, type TreeChange } from '../../domain/seals/stream-tree.ts'
import type { Clock } from '../../ports/clock.ts'
import { BEFORE_FIRST, type EventLog } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import { delay } from '../../time/timers.ts'
import { batchesOf } from './batches.ts'
import { extended, grownTree } from './grown-tree.ts'
import type { SealKey } from './seal-key.ts'
import { expectSealKey, type SealStream } from './seal-stream.ts'
import { NodeMissing, type TreeStore } from './tree-store.ts'

interface SealerDependencies {
  log: Pick<EventLog, 'readAll'>
  seals: SealStream
  trees: TreeStore
  key: SealKey
  /** The previous key, which signs the adoption of this one. */
  previousKey?: SealKey | undefined
  clock: Clock
  logger: Logger
  /**
   * The log is sealed after `maxEvents` events, or `maxAgeMs` after the first event since the last seal. Reads of
   * auditors do not count: seals cover them, but only very many cause a seal.
   */
  maxEvents: number
  maxAgeMs: number
  /** Tests lower it. */
  maxReads?: number
}

/**
 * This many reads of auditors cause a seal even if nothing else happens. Otherwise they would fill memory and slow down
 * the next seal. An auditor needs more than an hour for them, and a few reads to see the new seal.
 */
const MAX_READS = 10_000

/** Processing them takes a few milliseconds. */
const EVENTS_AT_ONCE = 1000

/** An event that no seal covers yet. */
interface Unsealed {
  stream: string
  revision: number
  position: Position
  at: string
  link: string
  /** Whether an operator waits for the seal. */
  isAwaited: boolean
  /** Whether the event makes a seal due. If reads of auditors did, each read of a new seal would cause another seal. */
  counts: boolean
}

/** Seals the log from time to time. Several processes may run a sealer; one of them records each seal. */
export class Sealer {
  readonly #dependencies: SealerDependencies
  /** The number of events that the last seal covers. */
  #sealed = 0
  #unsealed: Unsealed[] = []
  /** The number of unsealed events that count. */
  #counted = 0
  /** The number of unsealed events for which an operator waits. */
  #awaited = 0
  /** When this process read the first unsealed event that counts, on the monotonic clock. */
  #unsealedSinceMs = 0
  /** The number of sealed events that are still to be read. */
  #toSkip = 0
  /** Positions differ in a copy of the log. Then the sealed events are counted instead. */
  #trustsPositions = true

  constructor(dependencies: SealerDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Starts again from the last seal. Returns the position from which to read the log. Must not be called while a seal
   * is being made. Rejects with WrongSealKey at once, and not only when a seal is due.
   */
  async restart(): Promise<Position> {
    const { seals, key, previousKey } = this.#dependencies
    const { seal, key: adopted } = await seals.state()
    expectSealKey(adopted?.keyId, key, previousKey)
    this.#sealed = seal?.events ?? 0
    this.#unsealed = []
    this.#counted = 0
    this.#awaited = 0
    this.#toSkip = this.#trustsPositions ? 0 : this.#sealed
    return (this.#trustsPositions ? seal?.position : undefined) ?? BEFORE_FIRST
  }

  /** Takes the next events of the log. */
  take(events: RawEvent[]) {
    for (const event of events) {
      if (event.type === 'LogSealed') this.#drop((event.data as { events: number }).events)
      if (event.stream === SEALS_STREAM) continue
      if (this.#toSkip > 0) this.#toSkip -= 1
      else this.#add(event)
    }
  }

  /**
   * Makes the seals that are due. Rejects with Damaged if the log lacks events that the last seal covers. After a
   * rejection, the log must be read again from the position that `restart` returns.
   */
  async sealWhatIsDue(): Promise<void> {
    const { maxEvents, maxReads = MAX_READS } = this.#dependencies
    while (this.#counted >= maxEvents) if (!(await this.#seal(this.#extentOf(maxEvents)))) return
    const reads = this.#unsealed.length - this.#counted
    if (reads >= maxReads || this.#isOld() || this.#awaited > 0) await this.#seal(this.#unsealed.length)
  }

  #add({ stream, revision, position, type, metadata }: RawEvent) {
    const counts = stream !== READS_STREAM
    if (counts && this.#counted === 0) this.#unsealedSinceMs = this.#dependencies.clock.monotonicMs()
    if (counts) this.#counted += 1
    const { at, hash } = metadata as { at: string; hash: string }
    const isAwaited = stream === PERIODS_STREAM && type === 'PeriodCloseRequested'
    if (isAwaited) this.#awaited += 1
    this.#unsealed.push({ stream, revision, position, at, link: hash, isAwaited, counts })
  }

  /** The number of unsealed events up to the last of the first `counted` events that count. */
  #extentOf(counted: number): number {
    let left = counted
    return 1 + this.#unsealed.findIndex(({ counts }) => counts && --left === 0)
  }

  /** Checks the monotonic clock, which never jumps, and the event's time, which survives a restart. */
  #isOld(): boolean {
    const { clock, maxAgeMs } = this.#dependencies
    const first = this.#unsealed.find(({ counts }) => counts)
    if (!first) return false
    const ageMs = Math.max(clock.monotonicMs() - this.#unsealedSinceMs, clock.nowMs() - Date.parse(first.at))
    return ageMs >= maxAgeMs
  }

  /** Resolves to false if another process was faster. Its seal will be read. */
  async #seal(count: number): Promise<boolean> {
    const { seals, trees, key, previousKey } = this.#dependencies
    const before = await seals.state()
    const events = this.#unsealed.slice(0, count)
    const sealed = this.#sealed
    // Another process may have sealed some of these events in the meantime.
    if ((before.seal?.events ?? 0) !== sealed || events.length < count) return false
    const { newStreams, ...change } = await this.#grow(before, events)
    // Stored before the seal, so that every recorded seal has its tree.
    await trees.save(before.seal?.root ?? EMPTY_TREE, change)
    const content = {
      events: sealed + count,
      streams: (before.seal?.streams ?? 0) + newStreams,
      position: (events.at(-1) as Unsealed).position,
      root: change.root,
    }
    if (!(await seals.seal(before, content, key, previousKey))) return false
    this.#drop(content.events)
    return true
  }

  #drop(sealed: number) {
    if (sealed <= this.#sealed) return
    const dropped = this.#unsealed.splice(0, sealed - this.#sealed)
    this.#counted -= dropped.filter(({ counts }) => counts).length
    this.#awaited -= dropped.filter(({ isAwaited }) => isAwaited).length
    this.#sealed = sealed
    this.#unsealedSinceMs = this.#dependencies.clock.monotonicMs()
  }

  async #grow(before: SealsState, events: Unsealed[]): Promise<TreeChange & { newStreams: number }> {
    const root = before.seal?.root ?? EMPTY_TREE
    try {
      return await this.#extend(root, events)
    } catch (error) {
      if (error instanceof Damaged && this.#trustsPositions) {
        this.#trustsPositions = false
        throw new Unavailable('the positions of the log have changed; counting the events that the last seal covers')
      }
      if (!(error instanceof NodeMissing)) throw error
    }
    await this.#rebuild(root)
    return this.#extend(root, events)
  }

  /** Adds events to the ends of their streams. Works in parts, and lets other work run in between. */
  async #extend(root: string, events: Unsealed[]): Promise<TreeChange & { newStreams: number }> {
    const { trees, clock } = this.#dependencies
    const pages = await trees.paths(root, [...new Set(events.map(({ stream }) => stream))])
    const leaves = new Map<string, StreamLeaf>()
    let newStreams = 0
    for (const part of batchesOf(events, EVENTS_AT_ONCE)) {
      for (const event of part) {
        const { stream } = event
        const leaf = leaves.get(stream) ?? leafOf(root, stream, pages)
        if (!leaf) newStreams += 1
        leaves.set(stream, extended(stream, [event], leaf))
      }
      await delay(clock, 0)
    }
    return { ...(await grownTree(root, [...leaves.values()], { pages, clock })), newStreams }
  }

  /** Rebuilds the tree of the last seal from the log. */
  async #rebuild(root: string) {
    const { log, trees, clock, logger } = this.#dependencies
    logger.info({ events: this.#sealed }, 'rebuilding the tree of the last seal')
    const leaves = new Map<string, StreamLeaf>()
    let count = 0
    for await (const page of log.readAll(BEFORE_FIRST)) {
      for (const { stream, revision, metadata } of page) {
        if (stream === SEALS_STREAM || count === this.#sealed) continue
        const { hash: link } = metadata as { hash: string }
        leaves.set(stream, extended(stream, [{ revision, link }], leaves.get(stream)))
        count += 1
      }
      if (count === this.#sealed) break
    }
    const rebuilt = await grownTree(EMPTY_TREE, [...leaves.values()], { pages: new Map(), clock })
    if (rebuilt.root !== root)
      throw new Damaged('the log lacks events that its last seal covers; run "tollgate audit verify"')
    // The store may have pages of trees that were never sealed, and of earlier versions.
    await trees.clear()
    await trees.save(EMPTY_TREE, rebuilt)
  }
}
