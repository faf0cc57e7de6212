import { LRUCache } from 'lru-cache'
import { loginStream } from '../../../schemas/events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import type { LoginEvent } from '../../../schemas/login-events.ts'
import { loginOf } from '../../domain/login/identity.ts'
import { type LoginCommand, type LoginState, login } from '../../domain/login/login.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { Mailbox } from '../../engine/streams/mailbox.ts'
import type { SnapshotForm, Snapshots } from '../../engine/streams/snapshots.ts'
import { Streams } from '../../engine/streams/stream.ts'
import { upTo } from '../../flow/cache-limit.ts'
import { type Caller, causeOf } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import type { StreamDependencies } from '../stream-mailbox.ts'

/** Identities in memory, about a kilobyte each. Strangers may name any number of identities. */
const MAX_IN_MEMORY = 2_000

/** Somebody may request codes for an address for years. That must not slow down the next sign-in. */
const MIN_TAIL = 200

export const loginSnapshots: SnapshotForm<LoginState> = {
  version: 2,
  worthAfter: () => MIN_TAIL,
  freeze: state => state,
  thaw: frozen => frozen as LoginState,
}

interface Dependencies extends StreamDependencies {
  snapshots: Snapshots<LoginState>
}

/** Reads and changes the streams of identities. No view holds them, so a forged row cannot open an account. */
export class Logins {
  readonly #streams: Streams<LoginCommand, LoginState, LoginEvent, Refusal>
  readonly #mailboxes = new LRUCache<string, Mailbox<LoginCommand, LoginState, LoginEvent, Refusal>>(
    upTo(MAX_IN_MEMORY),
  )

  constructor(dependencies: Dependencies) {
    this.#streams = new Streams({ decider: login, codec: eventCodec, ...dependencies })
  }

  execute(caller: Caller, identity: Identity, command: LoginCommand) {
    return this.#mailbox(identity).execute(command, causeOf(caller))
  }

  /** The identity as this process knows it, including its own changes. */
  state(identity: Identity): Promise<LoginState> {
    return this.#mailbox(identity).state()
  }

  currentState(identity: Identity): Promise<LoginState> {
    return this.#mailbox(identity).currentState()
  }

  #mailbox(identity: Identity) {
    const hash = loginOf(identity)
    let mailbox = this.#mailboxes.get(hash)
    if (!mailbox) {
      mailbox = new Mailbox(loginStream(hash), this.#streams)
      this.#mailboxes.set(hash, mailbox)
    }
    return mailbox
  }
}
