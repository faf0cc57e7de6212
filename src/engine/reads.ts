import type { AccountId } from '../../schemas/primitives.ts'
import type { ViewName, Views } from '../../schemas/views.ts'
import type { Entry, Range, ViewStore } from '../ports/view-store.ts'
import type { Accounts } from './accounts.ts'
import type { Projector } from './projector.ts'

/** How long a read waits for the views to show what this process wrote. They are a few milliseconds behind as a rule. */
const READ_YOUR_WRITES_MS = 5000

/** Reads the views. What concerns an account is read when the views have passed all that this process wrote to it. */
export class Reads {
  readonly #store: ViewStore
  readonly #projector: Projector
  readonly #accounts: Accounts

  constructor(store: ViewStore, projector: Projector, accounts: Accounts) {
    this.#store = store
    this.#projector = projector
    this.#accounts = accounts
  }

  /** Resolves at once, and to nothing, when there is nothing to wait for. Rejects with Unavailable. */
  ownWrites(accountId: AccountId): Promise<void> | undefined {
    const position = this.#accounts.lastPosition(accountId)
    return position <= this.#projector.position ? undefined : this.#projector.passed(position, READ_YOUR_WRITES_MS)
  }

  get<Name extends ViewName>(view: Name, key: string): Promise<Views[Name] | undefined> {
    return this.#store.get(view, key)
  }

  list<Name extends ViewName>(view: Name, index: string, range: Range): Promise<Entry<Views[Name]>[]> {
    return this.#store.list(view, index, range)
  }
}
