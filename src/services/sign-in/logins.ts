import { createHmac } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { loginStream } from '../../../schemas/events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import type { LoginEvent } from '../../../schemas/login-events.ts'
import { identityText, unkeyedLoginOf } from '../../domain/login/identity.ts'
import { type LoginCommand, type LoginState, login } from '../../domain/login/login.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { Mailbox } from '../../engine/streams/mailbox.ts'
import type { SnapshotForm, Snapshots } from '../../engine/streams/snapshots.ts'
import { Streams } from '../../engine/streams/stream.ts'
import { upTo } from '../../flow/cache-limit.ts'
import { type Caller, causeOf } from '../caller.ts'
import { deriveKey } from '../derive-key.ts'
import { eventCodec } from '../event-codec.ts'
import type { StreamDependencies } from '../stream-mailbox.ts'

/** Identities in memory, about a kilobyte each. Strangers may name any number of identities. */
const MAX_IN_MEMORY = 2_000

/** Somebody may request codes for an address for years. That must not slow down the next sign-in. */
const MIN_TAIL = 200

export const loginSnapshots: SnapshotForm<LoginState> = {
  version: 3,
  worthAfter: () => MIN_TAIL,
  freeze: state => state,
  thaw: frozen => frozen as LoginState,
}

interface Dependencies extends StreamDependencies {
  snapshots: Snapshots<LoginState>
  masterSecret: string
}

/** An identity in memory, and the digest in the name of its stream. */
interface Known {
  login: string
  mailbox: Mailbox<LoginCommand, LoginState, LoginEvent, Refusal>
}

/** Reads and changes the streams of identities. No view holds them, so a forged row cannot open an account. */
export class Logins {
  readonly #log: StreamDependencies['log']
  readonly #key: Buffer
  readonly #streams: Streams<LoginCommand, LoginState, LoginEvent, Refusal>
  readonly #known = new LRUCache<string, Known>(upTo(MAX_IN_MEMORY))

  constructor({ masterSecret, ...dependencies }: Dependencies) {
    this.#log = dependencies.log
    this.#key = deriveKey(masterSecret, 'logins')
    this.#streams = new Streams({ decider: login, codec: eventCodec, ...dependencies })
  }

  async execute(caller: Caller, identity: Identity, command: LoginCommand) {
    return (await this.#find(identity)).mailbox.execute(command, causeOf(caller))
  }

  /** The identity as this process knows it, including its own changes. */
  async state(identity: Identity): Promise<LoginState> {
    return (await this.#find(identity)).mailbox.state()
  }

  async currentState(identity: Identity): Promise<LoginState> {
    return (await this.#find(identity)).mailbox.currentState()
  }

  /** The digest in the name of the identity's stream. */
  async loginOf(identity: Identity): Promise<string> {
    return (await this.#find(identity)).login
  }

  async #find(identity: Identity): Promise<Known> {
    const text = identityText(identity)
    const known = this.#known.get(text)
    if (known) return known
    const login = await this.#readLogin(identity)
    // Another caller may have found it meanwhile.
    const found = this.#known.get(text) ?? { login, mailbox: new Mailbox(loginStream(login), this.#streams) }
    this.#known.set(text, found)
    return found
  }

  /**
   * An identity whose stream an earlier version began keeps it, and any other has a digest that nobody can guess. One
   * read decides, whether the identity is known or not, so that its time reveals nothing.
   */
  async #readLogin(identity: Identity): Promise<string> {
    const unkeyed = unkeyedLoginOf(identity)
    if (await this.#log.readEvent(loginStream(unkeyed), 0)) return unkeyed
    return createHmac('sha256', this.#key).update(identityText(identity)).digest('hex')
  }
}
