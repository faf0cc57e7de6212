import { createHmac } from 'node:crypto'
import type { EmailIdentity, Identity } from '../../../schemas/identity.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { unkeyedLoginOf } from '../../domain/login/identity.ts'
import { codeFaultOf, type LoginCommand, type LoginState, MAX_TRIES } from '../../domain/login/login.ts'
import { refuse } from '../../domain/refusal.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import { Pace } from '../../flow/pace.ts'
import { Shares } from '../../flow/shares.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { MailMessage } from '../../ports/mailer.ts'
import type { Random } from '../../ports/random.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import { type Caller, type SessionOwner, serviceFor } from '../caller.ts'
import { deriveKey } from '../derive-key.ts'
import { wideNetworksOf } from './admissions.ts'
import type { KnownBrowsers } from './browser-tokens.ts'
import type { Logins } from './logins.ts'
import type { MailQueue } from './mail-queue.ts'

/** Long enough for slow mail. */
export const CODE_MS = 10 * 60 * 1000

/** A network may be an office where everybody signs in at the same time. */
const TRIES_PER_NETWORK = { burst: 60, perSecond: 1 / 5 }
const RETRY_MS = 60_000

/** Concurrent lookups of identities after their requests were answered, per network and in total. */
const [MAX_LOOKUPS, MAX_LOOKUPS_IN_ALL] = [16, 512]

interface Dependencies {
  logins: Logins
  mail: MailQueue
  clock: Clock
  random: Random
  logger: Logger
  masterSecret: string
  browsers: KnownBrowsers
  /** Codes per minute for strangers, and as many each for people with an account and for known browsers. */
  codesPerMinute: number
}

/** A browser that wants to sign in. */
export interface Client {
  /** An IPv4 address, or the /64 of an IPv6 address. */
  network: string
  /** The token from the browser's last sign-in. */
  browser?: string | undefined
  userAgent?: string | undefined
}

/** The origin of a request. With an owner, a code links the identity to the owner's account. */
interface CodeTry extends Client {
  caller: Caller
  owner?: SessionOwner
}

interface CodeOrder extends CodeTry, Pick<CodeCandidate, 'identity'> {
  /** The message with the code; undefined if the identity gets none. */
  messageOf(code: string, state: LoginState): MailMessage | undefined
}

/** A code that the browser may enter. If `isBusy`, the code is sent only if the address has an account. */
export interface CodeAnswer {
  codeId: string
  isBusy: boolean
}

/** A requested code, and its identity. */
interface CodeCandidate {
  identity: EmailIdentity
  codeId: string
}

/** The number of hexadecimal digits that mark an ID as given out while the service was busy. */
const MARK_LENGTH = 12

/** Makes one-time codes, sends them by mail, and checks the codes that people enter. */
export class OneTimeCodes {
  readonly #dependencies: Dependencies
  readonly #hash: ReturnType<typeof codeHasher>
  /** The shares of networks, of accounts with a named identity, and of accounts in known browsers. */
  readonly #strangers: Shares
  readonly #owners: Shares
  readonly #known: Shares
  readonly #lookups = new OpenCounts<string>(MAX_LOOKUPS, MAX_LOOKUPS_IN_ALL)
  readonly #tries: Pace

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    const { clock, masterSecret, codesPerMinute: perMinute } = dependencies
    this.#hash = codeHasher(masterSecret)
    this.#strangers = new Shares({ clock, perMinute })
    this.#owners = new Shares({ clock, perMinute })
    this.#known = new Shares({ clock, perMinute })
    this.#tries = new Pace({ clock, ...TRIES_PER_NETWORK })
  }

  /**
   * Makes a code. Its message, if any, is sent after the response, so neither the response nor its timing reveals
   * whether an address has an account, even while only addresses with an account get codes. Entering a code requires
   * the ID in the response, so strangers cannot use up the tries of a code that they did not request.
   */
  async request(order: CodeOrder): Promise<Answer<CodeAnswer>> {
    const codeId = this.#dependencies.random.uuid()
    const account = this.#accountOf(order)
    const networks = wideNetworksOf(order.network)
    if ((account && this.#known.take([account])) || this.#strangers.take(networks)) {
      const refused = await this.#make(order, codeId)
      return refused ?? answer({ codeId, isBusy: false })
    }
    if (order.owner) return refuse('too_many_sign_ins', { retryAfterMs: RETRY_MS })
    const busyId = this.#busyIdOf(order.identity, codeId)
    this.#makeForOwner(order, busyId, networks[0])
    return answer({ codeId: busyId, isBusy: true })
  }

  /** An ID by which the service recognises a code that only identities with an account got. */
  #busyIdOf(identity: EmailIdentity, codeId: string): string {
    const head = codeId.slice(0, -MARK_LENGTH)
    return head + this.#hash(identity, head, 'busy').slice(0, MARK_LENGTH)
  }

  /** Makes a code after the response, if the identity has an account. */
  #makeForOwner(order: CodeOrder, codeId: string, network: string) {
    const close = this.#lookups.open(network)
    if (!close) return
    const make = async () => {
      const { accountId } = await this.#dependencies.logins.currentState(order.identity)
      if (accountId !== undefined && this.#owners.take([accountId])) await this.#make(order, codeId, { busy: true })
    }
    make()
      .catch(err => this.#dependencies.logger.warn({ err }, 'a sign-in code could not be made'))
      .finally(close)
  }

  async #make(order: CodeOrder, codeId: string, kind?: { busy: true }): Promise<Refused | undefined> {
    const { logins, mail } = this.#dependencies
    const { caller, identity, owner, messageOf } = order
    const use = { ...kind, ...(owner ? { linkTo: owner.accountId } : { browserOf: this.#accountOf(order) }) }
    const made = await makeCode(this.#dependencies, owner ?? serviceFor(caller), { identity, codeId, ...use })
    if ('refuse' in made) return made
    const state = await logins.state(identity)
    const message = messageOf(made.value, state)
    if (message) mail.add(message, { isFirst: state.accountId !== undefined })
    return undefined
  }

  /** The account of the owner or of the known browser. */
  #accountOf({ owner, browser }: CodeTry): AccountId | undefined {
    return owner?.accountId ?? this.#dependencies.browsers.accountOf(browser)
  }

  /**
   * Tries the entered text as each of the codes that the browser requested, and records the tries. If it matches a
   * code, only that code is tried. Returns the identity of the matching code, which is then used up.
   */
  async tryCodes(from: CodeTry, codes: readonly CodeCandidate[], entered: string): Promise<Answer<EmailIdentity>> {
    const { logins } = this.#dependencies
    const { caller, owner } = from
    const client = this.#accountOf(from) ?? from.network
    if (!this.#tries.allows(client)) return refuse('too_many_sign_ins', { retryAfterMs: RETRY_MS })
    const hashed = codes.map(code => ({ ...code, hash: this.#hash(code.identity, code.codeId, entered) }))
    const known = await Promise.all(hashed.map(async code => (await this.#codeOf(code))?.hash === code.hash))
    const matches = hashed.filter((_, index) => known[index])
    const refused: Refused[] = []
    const triesLeft: number[] = []
    for (const code of matches.length > 0 ? matches : hashed) {
      const { identity, codeId, hash } = code
      this.#tries.count(client)
      const command = { type: 'TryCode', codeId, hash, linkTo: owner?.accountId } as const
      const tried = await logins.execute(owner ?? serviceFor(caller), identity, command)
      if ('refuse' in tried) refused.push(tried)
      else if (tried.accept.some(({ type, data }) => type === 'LoginCodeTried' && data.correct)) return answer(identity)
      else triesLeft.push(Math.max(0, MAX_TRIES - ((await this.#codeOf(code))?.tries ?? MAX_TRIES)))
    }
    // Any other response would reveal whether the address has an account.
    if (codes.some(({ identity, codeId }) => codeId === this.#busyIdOf(identity, codeId)))
      return refuse('code_wrong', { codes: codes.length })
    const [first] = refused
    if (first && triesLeft.length === 0) return first
    return refuse('code_wrong', { triesLeft: Math.max(...triesLeft), codes: codes.length })
  }

  /** Refuses a code that is used, expired or unknown. This is not a try, and the ID reveals nothing about the code. */
  async check({ identity, codeId }: CodeCandidate): Promise<Answer<void>> {
    const { logins, clock } = this.#dependencies
    const { codes } = await logins.currentState(identity)
    const code = codes.find(each => each.codeId === codeId && each.linkTo === undefined)
    const reason = codeFaultOf(code, clock.nowMs())
    return reason ? refuse('code_not_valid', { reason }) : answer(undefined)
  }

  async #codeOf({ identity, codeId }: CodeCandidate) {
    return (await this.#dependencies.logins.state(identity)).codes.find(each => each.codeId === codeId)
  }
}

type CodeUse = Omit<Extract<LoginCommand, { type: 'RequestCode' }>, 'type' | 'codeId' | 'hash' | 'expiresAt'>

/** Makes a code, which is valid from now on. Only the log's hash of it is kept. */
export const makeCode = async (
  { logins, clock, random, masterSecret }: Pick<Dependencies, 'logins' | 'clock' | 'random' | 'masterSecret'>,
  caller: Caller,
  { identity, codeId, ...use }: CodeCandidate & CodeUse,
): Promise<Answer<string>> => {
  const code = newCode(random)
  const requested = await logins.execute(caller, identity, {
    ...{ type: 'RequestCode', codeId, ...use },
    hash: codeHasher(masterSecret)(identity, codeId, code),
    expiresAt: new Date(clock.nowMs() + CODE_MS).toISOString(),
  })
  return 'refuse' in requested ? requested : answer(code)
}

/**
 * The letters of a code: consonants that are hard to confuse and that form no words (RFC 8628, section 6.1). Eight of
 * them have 2.5 · 10¹⁰ values.
 */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LENGTH = 8

/** The largest multiple of 20 that fits into a byte, so that every letter is equally likely. */
const FAIR_BYTES = 240

/** A random code in the form that people type: `WDJB-MJHT`. */
const newCode = (random: Random): string => {
  let code = ''
  while (code.length < CODE_LENGTH) {
    const byte = Number.parseInt(random.hex(1), 16)
    if (byte < FAIR_BYTES) code += LETTERS[byte % LETTERS.length]
  }
  return `${code.slice(0, CODE_LENGTH / 2)}-${code.slice(CODE_LENGTH / 2)}`
}

/** Makes the hash of a code for the log. Without the master secret, the code cannot be found from it. */
const codeHasher = (masterSecret: string) => {
  const key = deriveKey(masterSecret, 'sign-in-codes')
  return (identity: Identity, codeId: string, code: string): string =>
    createHmac('sha256', key)
      .update(`${unkeyedLoginOf(identity)}/${codeId}/${code.toUpperCase().replaceAll(/[^A-Z]/g, '')}`)
      .digest('hex')
}
