import { LRUCache } from 'lru-cache'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { accountStream, type Position } from '../../../schemas/recorded.ts'
import { account } from '../../domain/account/account.ts'
import type { AccountCommand } from '../../domain/account/commands.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { Mailbox, type Outcome } from '../../engine/streams/mailbox.ts'
import type { Snapshots } from '../../engine/streams/snapshots.ts'
import { type Cause, Streams } from '../../engine/streams/stream.ts'
import type { Clock } from '../../ports/clock.ts'
import { BEFORE_FIRST, type EventLog } from '../../ports/event-log.ts'

/** Accounts whose state stays in memory. An idle one takes a few kilobytes. */
const MAX_IN_MEMORY = 20_000

type AccountMailbox = Mailbox<AccountCommand, AccountState, AccountEvent>

/** Every account's mailbox. A forgotten one is folded from the log again; two for one account would only conflict. */
export class Accounts {
  readonly #streams: Streams<AccountCommand, AccountState, AccountEvent>
  readonly #clock: Clock
  readonly #mailboxes: LRUCache<AccountId, AccountMailbox>
  #forgottenPosition: Position = BEFORE_FIRST

  constructor(log: EventLog, snapshots: Snapshots<AccountState>, clock: Clock) {
    this.#streams = new Streams(account, log, snapshots)
    this.#clock = clock
    this.#mailboxes = new LRUCache({
      max: MAX_IN_MEMORY,
      dispose: ({ position }) => {
        this.#forgottenPosition = Math.max(this.#forgottenPosition, position)
      },
    })
  }

  /** Decides a command; resolves when its events are durable. Rejects with Unavailable when that cannot be now. */
  execute(accountId: AccountId, command: AccountCommand, cause: Cause): Promise<Outcome<AccountEvent>> {
    return this.#mailbox(accountId).execute(command, cause)
  }

  /** An account as far as this process knows it. */
  state(accountId: AccountId): Promise<AccountState> {
    return this.#mailbox(accountId).state()
  }

  /** An account as it is on the log now. */
  currentState(accountId: AccountId): Promise<AccountState> {
    return this.#mailbox(accountId).currentState()
  }

  /** What the views must have passed before this process's own writes to an account can be read there. */
  lastPosition(accountId: AccountId): Position {
    return this.#mailboxes.peek(accountId)?.position ?? this.#forgottenPosition
  }

  #mailbox(accountId: AccountId): AccountMailbox {
    let mailbox = this.#mailboxes.get(accountId)
    if (!mailbox) {
      mailbox = new Mailbox(accountStream(accountId), this.#streams, this.#clock)
      // Until it writes, what an earlier mailbox of the account wrote is what its readers wait for.
      mailbox.position = this.#forgottenPosition
      this.#mailboxes.set(accountId, mailbox)
    }
    return mailbox
  }
}
