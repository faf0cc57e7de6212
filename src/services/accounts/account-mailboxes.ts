import { Map as ImmutableMap, List, OrderedMap } from 'immutable'
import { LRUCache } from 'lru-cache'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Position } from '../../../schemas/recorded.ts'
import { account } from '../../domain/account/account.ts'
import type { AccountCommand } from '../../domain/account/commands.ts'
import type { AccountState, Lot } from '../../domain/account/state.ts'
import type { Decided, Refusal } from '../../domain/refusal.ts'
import { type CommandOutcome, Mailbox } from '../../engine/streams/mailbox.ts'
import type { SnapshotForm, Snapshots } from '../../engine/streams/snapshots.ts'
import { type Encryption, Streams } from '../../engine/streams/stream.ts'
import type { Changes } from '../../engine/views/view-progress.ts'
import { upTo } from '../../flow/cache-limit.ts'
import type { Clock } from '../../ports/clock.ts'
import { BEFORE_FIRST } from '../../ports/event-log.ts'
import { type Caller, causeOf, modeOf } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import { timed } from '../request-record.ts'
import type { StreamDependencies } from '../stream-mailbox.ts'

/** The default of `maxInMemory`. An idle account takes a few kilobytes. */
const MAX_IN_MEMORY = 20_000

/** The maximum age of a state that clients see. It bounds how long a key works after another process has revoked it. */
const MAX_AGE_MS = 1000

type AccountMailbox = Mailbox<AccountCommand, AccountState, AccountEvent, Refusal>

interface Dependencies extends StreamDependencies {
  snapshots: Snapshots<AccountState>
  encryption?: Encryption | undefined
  /** Accounts whose state stays in memory. */
  maxInMemory?: number | undefined
  /**
   * The position of the last event of a stream. With it, clients see what other processes have written at once. A log
   * whose processes all serve the same clients should have it.
   */
  positionInLog?: ((stream: string) => Position) | undefined
}

/**
 * Every account's mailbox. A mailbox that was dropped is folded from the log again. Two for one account would only
 * conflict.
 */
export class AccountMailboxes {
  readonly #streams: Streams<AccountCommand, AccountState, AccountEvent, Refusal>
  readonly #clock: Clock
  readonly #positionInLog: Dependencies['positionInLog']
  readonly #mailboxes: LRUCache<AccountId, AccountMailbox>
  #forgottenPosition: Position = BEFORE_FIRST
  /** When the views last changed: for all accounts if the changed rows are unknown, and for each account. */
  #viewsChangedAtMs = 0
  readonly #changedAtMs: LRUCache<AccountId, number>

  constructor({ maxInMemory = MAX_IN_MEMORY, positionInLog, ...dependencies }: Dependencies) {
    this.#positionInLog = positionInLog
    this.#streams = new Streams({ decider: account, codec: eventCodec, ...dependencies })
    this.#clock = dependencies.clock
    this.#changedAtMs = new LRUCache({
      ...upTo(maxInMemory),
      noDisposeOnSet: true,
      dispose: changedAtMs => {
        this.#viewsChangedAtMs = Math.max(this.#viewsChangedAtMs, changedAtMs)
      },
    })
    this.#mailboxes = new LRUCache({ ...upTo(maxInMemory), dispose: mailbox => this.#forget(mailbox) })
  }

  /**
   * Decides a command. Resolves when its events are durable, and rejects with Unavailable if that is impossible now.
   * A session that has ended is refused everything.
   */
  async execute(
    caller: Caller,
    accountId: AccountId,
    command: AccountCommand,
  ): Promise<CommandOutcome<AccountEvent, Refusal>> {
    const mailbox = this.#mailbox(accountId)
    const executed = mailbox.execute(this.#withCaller(caller, command), causeOf(caller))
    const outcome = await timed(caller.record, 'appendMs', this.#clock, executed)
    if (this.#mailboxes.peek(accountId) !== mailbox) {
      // It has left memory during the append, and the mailbox in its place may not know of the write.
      this.#forget(mailbox)
      this.#mailboxes.delete(accountId)
    }
    return outcome
  }

  /** How a command would be decided on the account as the log has it now. Nothing is appended. */
  async foresee(caller: Caller, accountId: AccountId, command: AccountCommand): Promise<Decided<AccountEvent>> {
    return account.decide(this.#withCaller(caller, command), await this.currentState(accountId), this.#clock.nowMs())
  }

  /** An account as this process knows it. */
  state(accountId: AccountId): Promise<AccountState> {
    return this.#mailbox(accountId).state()
  }

  /** An account as the log has it now. */
  currentState(accountId: AccountId): Promise<AccountState> {
    return this.#mailbox(accountId).currentState()
  }

  /** The same, with the revision and the link of its last event. */
  currentHead(accountId: AccountId) {
    return this.#mailbox(accountId).currentHead()
  }

  /**
   * The state of an account in the log within the last second or, while the log is unavailable or slow, the last state
   * that this process knows. Reads of clients depend on this state and not on views, which can neither create money nor
   * grant access. Writes are always decided on the present state.
   */
  recentState(accountId: AccountId): Promise<AccountState> {
    return this.#presentState(accountId) ?? this.#mailbox(accountId).stateSince(this.#clock.monotonicMs() - MAX_AGE_MS)
  }

  /** Like `recentState`, but at least as new as the rows that this process has shown from the views. */
  shownState(accountId: AccountId): Promise<AccountState> {
    const present = this.#presentState(accountId)
    if (present) return present
    const shownAtMs = Math.max(this.#viewsChangedAtMs, this.#changedAtMs.get(accountId) ?? 0)
    return this.#mailbox(accountId).stateSince(Math.max(this.#clock.monotonicMs() - MAX_AGE_MS, shownAtMs))
  }

  /** The revision of the last event that `shownState` includes. */
  async shownRevision(accountId: AccountId): Promise<number> {
    await this.shownState(accountId)
    return this.#mailbox(accountId).revision
  }

  /** Records when the views changed. */
  onViewsChanged(changes: Changes) {
    const nowMs = this.#clock.monotonicMs()
    if (changes === 'unknown') this.#viewsChangedAtMs = nowMs
    else for (const { view, key } of changes) if (view === 'balance') this.#changedAtMs.set(key as AccountId, nowMs)
  }

  /** Reads an account's stream if it may hold events up to a position that are not known here. */
  async catchUp(accountId: AccountId, position: Position): Promise<void> {
    if (position > this.#mailbox(accountId).position) await this.currentState(accountId)
  }

  /** The position that the views must have passed to show this process's own writes to an account, or all writes. */
  lastPosition(accountId: string): Position {
    if (this.#positionInLog) return this.#positionInLog(accountStream(accountId as AccountId))
    const position = this.#mailboxes.peek(accountId as AccountId)?.position ?? BEFORE_FIRST
    // A mailbox that has read nothing yet does not know the writes of the account's earlier mailboxes.
    return position > BEFORE_FIRST ? position : this.#forgottenPosition
  }

  /** The state that the log has now, if the log can tell at once that this process does not know it. */
  #presentState(accountId: AccountId): Promise<AccountState> | undefined {
    if (!this.#positionInLog) return undefined
    const mailbox = this.#mailbox(accountId)
    const isBehind = this.#positionInLog(accountStream(accountId)) > mailbox.position
    return isBehind ? mailbox.stateSince(this.#clock.monotonicMs()) : mailbox.state()
  }

  /** The command with the facts about its caller that the account checks. */
  #withCaller(caller: Caller, command: AccountCommand): AccountCommand {
    if (!('accountId' in caller) || caller.kind === 'operator') return command
    if (caller.kind === 'key') return { ...command, isByOwner: true }
    return { ...command, isByOwner: true, session: caller.sessionId, ...modeOf(caller) }
  }

  #forget({ position }: AccountMailbox) {
    this.#forgottenPosition = Math.max(this.#forgottenPosition, position)
  }

  #mailbox(accountId: AccountId): AccountMailbox {
    let mailbox = this.#mailboxes.get(accountId)
    if (!mailbox) {
      mailbox = new Mailbox(accountStream(accountId), this.#streams)
      this.#mailboxes.set(accountId, mailbox)
    }
    return mailbox
  }
}

/** A tail of this many events is read in a few milliseconds, so an earlier snapshot would not be worth its cost. */
const MIN_TAIL = 1000

/** Converts the state of an account to a snapshot and back. */
export const accountSnapshots: SnapshotForm<AccountState> = {
  version: 27,
  // A snapshot is as large as its contents, so large snapshots are written less often and the cost per event stays the
  // same.
  // One of an account that is being erased would outlast the erasure.
  worthAfter: ({ erasure, requests, uploads, endedUses }) =>
    erasure === 'begun' ? Number.POSITIVE_INFINITY : Math.max(MIN_TAIL, requests.size + uploads.size + endedUses.size),
  freeze: state => ({
    ...state,
    sessions: [...state.sessions],
    activeKeys: [...state.activeKeys],
    budgets: [...state.budgets],
    openRuns: [...state.openRuns],
    openRunsOf: [...state.openRunsOf],
    deliveries: [...state.deliveries],
    noticeDeliveries: [...state.noticeDeliveries],
    retirementsTold: [...state.retirementsTold],
    uploads: [...state.uploads],
    requests: [...state.requests],
    lots: [...state.lots],
    purchases: [...state.purchases],
    endedUses: [...state.endedUses],
    references: [...state.references],
  }),
  thaw: frozen => {
    const state = frozen as FrozenAccount
    return {
      ...state,
      // JSON has no undefined.
      suspension: state.suspension,
      erasure: state.erasure,
      retentionDays: state.retentionDays,
      lastFailed: state.lastFailed,
      topUp: state.topUp,
      sessions: OrderedMap(state.sessions),
      activeKeys: ImmutableMap(state.activeKeys),
      budgets: ImmutableMap(state.budgets),
      openRuns: ImmutableMap(state.openRuns),
      openRunsOf: ImmutableMap(state.openRunsOf),
      deliveries: ImmutableMap(state.deliveries),
      noticeDeliveries: ImmutableMap(state.noticeDeliveries),
      retirementsTold: ImmutableMap(state.retirementsTold),
      uploads: ImmutableMap(state.uploads),
      requests: OrderedMap(state.requests),
      lots: List(state.lots),
      purchases: OrderedMap(state.purchases),
      endedUses: OrderedMap(state.endedUses),
      references: ImmutableMap(state.references),
    }
  },
}

type FrozenAccount = {
  [Field in keyof AccountState]: AccountState[Field] extends Iterable<infer Entry extends [unknown, unknown] | Lot>
    ? Entry[]
    : AccountState[Field]
}
