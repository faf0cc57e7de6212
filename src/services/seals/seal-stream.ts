import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { LogSealed, SealEvent } from '../../../schemas/seal-events.ts'
import { rootOf } from '../../domain/seals/log-tree.ts'
import { type Outdated, type SealCommand, type SealsState, seals } from '../../domain/seals/seals.ts'
import type { Mailbox } from '../../engine/streams/mailbox.ts'
import type { Clock } from '../../ports/clock.ts'
import { mailboxOf, type StreamDependencies } from '../stream-mailbox.ts'
import type { SealKey } from './seal-key.ts'

const cause = { actor: { kind: 'service' } } as const

/** The part of the log that a seal commits to. */
type Sealable = Pick<LogSealed, 'events' | 'streams' | 'position' | 'root'>

/** The maximum age of seals for clients. Reading the end of the stream ten times a second costs almost nothing. */
const MAX_AGE_MS = 100

/** Reads the stream of seals, and signs and appends new seals. */
export class SealStream {
  readonly #mailbox: Mailbox<SealCommand, SealsState, SealEvent, Outdated>
  readonly #clock: Clock
  #known: SealsState | undefined

  constructor(dependencies: StreamDependencies) {
    this.#clock = dependencies.clock
    this.#mailbox = mailboxOf(SEALS_STREAM, seals, dependencies)
  }

  /** The stream's state that this process read or wrote last; undefined before the first read or write. */
  get known(): SealsState | undefined {
    return this.#known
  }

  async state(): Promise<SealsState> {
    return this.#remember(await this.#mailbox.currentState())
  }

  /** The state of a moment ago or, while the log is unavailable or slow, the last known state. */
  async recentState(): Promise<SealsState> {
    return this.#remember(await this.#mailbox.stateSince(this.#clock.monotonicMs() - MAX_AGE_MS))
  }

  /**
   * Appends a seal to the stream in the given state. Adopts a new key first, which the previous key must sign. Resolves
   * to false if another process was faster.
   */
  async seal(before: SealsState, content: Sealable, key: SealKey, previousKey?: SealKey): Promise<boolean> {
    if (before.key?.keyId !== key.keyId) {
      if (!(await this.#adopt(before, key, previousKey))) return false
      const after = await this.state()
      return after.seal?.number === before.seal?.number && this.seal(after, content, key)
    }
    const at = new Date(this.#clock.nowMs()).toISOString()
    const { size: number } = before.links
    const place = { number, earlier: rootOf(before.links), previous: before.head as string }
    const unsigned = { ...place, ...content, at, keyId: key.keyId }
    const seal = { ...unsigned, signature: key.sign(unsigned) }
    if ('refuse' in (await this.#mailbox.execute({ type: 'Seal', seal }, cause))) return false
    this.#remember(await this.#mailbox.state())
    return true
  }

  /** Concurrent reads may end in any order. */
  #remember(state: SealsState): SealsState {
    if (state.links.size >= (this.#known?.links.size ?? 0)) this.#known = state
    return state
  }

  async #adopt(before: SealsState, key: SealKey, previousKey: SealKey | undefined): Promise<boolean> {
    expectSealKey(before.key?.keyId, key, previousKey)
    const signer = before.key && previousKey ? previousKey : key
    const development = key.isDevelopment ? { development: true as const } : {}
    const unsigned = { key: key.publicKey, keyId: key.keyId, ...development }
    const adopted = { ...unsigned, signature: signer.sign(unsigned) }
    const command: SealCommand = { type: 'AdoptKey', key: adopted, number: before.links.size }
    return !('refuse' in (await this.#mailbox.execute(command, cause)))
  }
}

/** Throws WrongSealKey if neither key has sealed the log, which then can get no seal. */
export const expectSealKey = (adoptedId: string | undefined, key: SealKey, previousKey: SealKey | undefined) => {
  if (adoptedId === undefined || [key.keyId, previousKey?.keyId].includes(adoptedId)) return
  throw new WrongSealKey(
    [
      `the log is sealed with the key ${adoptedId}, and this process has ${key.keyId}: restore the key of`,
      'the log from your backup and name its file in SEAL_KEY_FILE, or, to change to the new key, in',
      'SEAL_PREVIOUS_KEY_FILE until the next seal',
    ].join(' '),
  )
}

/** The log is sealed with another key than the configured key. */
export class WrongSealKey extends Error {
  override name = 'WrongSealKey'
}
