import { accountStream, loginStream } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import type { Core } from '../../src/boot/core.ts'
import { account } from '../../src/domain/account/account.ts'
import type { AccountCommand, OpenAccount } from '../../src/domain/account/commands.ts'
import { unkeyedLoginOf } from '../../src/domain/login/identity.ts'
import { login } from '../../src/domain/login/login.ts'
import { unfolded } from '../../src/engine/streams/snapshots.ts'
import { type Cause, Streams } from '../../src/engine/streams/stream.ts'
import { type EventLog, type NewEvent, NO_STREAM } from '../../src/ports/event-log.ts'
import { accountSnapshots } from '../../src/services/accounts/account-mailboxes.ts'
import { eventCodec } from '../../src/services/event-codec.ts'
import { newAccountId } from '../../src/services/ids.ts'

const operator: Cause = { actor: { kind: 'operator' } }

/** Decides commands of one account, and appends their events many at a time, as fast as the log takes them. */
export class AccountWriter {
  readonly accountId: AccountId
  readonly #log: EventLog
  readonly #stream: string
  readonly #streams: Streams<AccountCommand, typeof account.initial, never, unknown>
  #folded = unfolded(account.initial)
  #batch: NewEvent[] = []
  #revision = NO_STREAM

  private constructor(log: EventLog, accountId: AccountId) {
    this.accountId = accountId
    this.#log = log
    this.#stream = accountStream(accountId)
    this.#streams = new Streams({ decider: account as never, ...partsOf(log) })
  }

  /** Opens an account that signs in with an address, as an earlier version did, which needs no master secret. */
  static async open(log: EventLog, address: string, at: string): Promise<AccountWriter> {
    const open = opening(newAccountId(systemRandom), address)
    const logins = new Streams({ decider: login, ...partsOf(log) })
    const stream = loginStream(unkeyedLoginOf(open.identity))
    const linked = { type: 'LoginLinked', data: { accountId: open.accountId } } as const
    const { event } = logins.extend(stream, unfolded(login.initial), linked, at, operator)
    await log.append(stream, [event], NO_STREAM)
    const writer = new AccountWriter(log, open.accountId)
    writer.apply(open, at)
    return writer
  }

  /** How many events the account has so far. */
  get events(): number {
    return this.#folded.revision + 1
  }

  apply(command: AccountCommand, at: string, cause = operator) {
    const decision = account.decide(command, this.#folded.state, Date.parse(at))
    if ('refuse' in decision) throw new Error(decision.refuse.code)
    for (const event of decision.accept) {
      const extended = this.#streams.extend(this.#stream, this.#folded, event as never, at, cause)
      this.#batch.push(extended.event)
      this.#folded = extended.folded
    }
  }

  /** Without a snapshot, the service would read all events when somebody signs in. */
  async saveSnapshot(core: Pick<Core, 'snapshotsOf'>): Promise<void> {
    await core.snapshotsOf(accountSnapshots).offer(this.#stream, this.#folded, NO_STREAM)
  }

  async flush(): Promise<void> {
    this.#revision = (await this.#log.append(this.#stream, this.#batch, this.#revision)).revision
    this.#batch = []
  }
}

const partsOf = (log: EventLog) => ({ codec: eventCodec, log, clock: systemClock, random: systemRandom })

export const opening = (accountId: AccountId, address: string): OpenAccount => ({
  type: 'OpenAccount',
  accountId,
  identity: { kind: 'email', address },
  tester: false,
  welcomeMicros: 10 ** 15,
})
