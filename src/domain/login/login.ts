import type { LoginCodeRequested, LoginEvent, LoginLinked, LoginUnlinked } from '../../../schemas/login-events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { accept, type Decider, type PastEvent, repeat, unreachable } from '../decider.ts'
import { type CodeFault, type Decided, type Refusal, refuse } from '../refusal.ts'
import type { Welcome } from './welcome.ts'

/**
 * The most codes of a kind in a window: enough for a person whose mail is slow, and a bound on the mail that strangers
 * can send to an address.
 */
export const MAX_CODES = 5
export const CODE_WINDOW_MS = 60 * 60 * 1000

/** Enough for typing errors. A code has far too many values to be guessed in so few tries. */
export const MAX_TRIES = 5

/** `hash` is the keyed hash of the entered code, and `browserOf` the account that the browser had signed in to. */
export type LoginCommand =
  | ({ type: 'LinkLogin' } & LoginLinked)
  | ({ type: 'UnlinkLogin' } & LoginUnlinked)
  | { type: 'InviteLogin' }
  | ({ type: 'RequestCode'; browserOf?: AccountId | undefined } & Omit<LoginCodeRequested, 'known'>)
  | ({ type: 'DecideWelcome'; isAlias: boolean } & WelcomeOf)
  | { type: 'TryCode'; codeId: string; hash: string; linkTo?: AccountId | undefined }

/** The welcome that the account of an identity would get. Several of them may have one stream that decides. */
interface WelcomeOf extends Welcome {
  /** The digest in the name of the identity's stream. */
  login: string
}

/** Decisions that are kept for processes that died before they opened the account. */
const MAX_WELCOMES = 20

/** One identity. It has at most one account at a time. */
export interface LoginState {
  accountId: AccountId | undefined
  /** Whether it was unlinked from an account. */
  hadAccount: boolean
  isInvited: boolean
  /** Whether this identity, or an identity that counts as the same for the welcome, got the credits. */
  isWelcomed: boolean
  /** The last decisions, the oldest first. */
  welcomes: readonly WelcomeOf[]
  /** Those of the last window, the oldest first. */
  codes: readonly RequestedCode[]
}

interface RequestedCode extends Omit<LoginCodeRequested, 'expiresAt'> {
  requestedAtMs: number
  expiresAtMs: number
  tries: number
  isUsed: boolean
}

const initial: LoginState = {
  accountId: undefined,
  hadAccount: false,
  isInvited: false,
  isWelcomed: false,
  welcomes: [],
  codes: [],
}

const decide = (command: LoginCommand, state: LoginState, atMs: number): Decided<LoginEvent> => {
  switch (command.type) {
    case 'LinkLogin': {
      const { type, ...data } = command
      return state.accountId === undefined ? accept([{ type: 'LoginLinked', data }]) : refuse('account_exists')
    }
    case 'UnlinkLogin': {
      const { accountId } = command
      if (state.accountId !== accountId) return repeat('unlinking')
      return accept([{ type: 'LoginUnlinked', data: { accountId } }])
    }
    case 'InviteLogin':
      if (state.accountId !== undefined) return refuse('account_exists')
      return state.isInvited ? repeat('invitation') : accept([{ type: 'LoginInvited', data: {} }])
    case 'RequestCode': {
      const { type, browserOf, ...data } = command
      const signedInTo = browserOf ?? data.linkTo
      const known = signedInTo !== undefined && signedInTo === state.accountId
      const code = { ...data, ...(known && { known }) }
      const [oldest, ...others] = recent(state, atMs).filter(each => kindOf(each) === kindOf(code))
      if (oldest && others.length + 1 >= MAX_CODES)
        return refuse('too_many_codes', { retryAfterMs: oldest.requestedAtMs + CODE_WINDOW_MS - atMs })
      return accept([{ type: 'LoginCodeRequested', data: code }])
    }
    case 'DecideWelcome': {
      const { login, isAlias, ...welcome } = command
      if (state.welcomes.some(each => each.login === login)) return repeat(login)
      const { welcomeMicros, withheld } = isWelcomeTaken(state, isAlias) ? ALIAS : welcome
      return accept([{ type: 'WelcomeDecided', data: { login, welcomeMicros, ...(withheld && { withheld }) } }])
    }
    case 'TryCode': {
      const { codeId, hash, linkTo } = command
      const code = state.codes.find(each => each.codeId === codeId && each.linkTo === linkTo)
      const reason = codeFaultOf(code, atMs)
      if (!code || reason) return refuse('code_not_valid', { reason: reason ?? 'unknown' })
      return accept([{ type: 'LoginCodeTried', data: { codeId, correct: code.hash === hash } }])
    }
    default:
      return unreachable(command)
  }
}

/** Whether the identity gets no welcome credits; `isAlias`: the state is that of its plain spelling. */
export const isWelcomeTaken = ({ isWelcomed, hadAccount, accountId }: LoginState, isAlias: boolean): boolean =>
  // The account of the plain spelling may be the operator's, or older than the decisions.
  isWelcomed || hadAccount || (isAlias && accountId !== undefined)

/** Why a code is worth no try; undefined if it may be tried. */
export const codeFaultOf = (code: RequestedCode | undefined, atMs: number): CodeFault | undefined => {
  if (!code) return 'unknown'
  if (code.isUsed) return 'used'
  if (code.tries >= MAX_TRIES) return 'tries'
  return atMs >= code.expiresAtMs ? 'expired' : undefined
}

const ALIAS: Welcome = { welcomeMicros: 0, withheld: 'alias' }

const evolve = (state: LoginState, event: PastEvent<LoginEvent>): LoginState => {
  switch (event.type) {
    case 'LoginInvited':
      return { ...state, isInvited: true }
    case 'LoginCodeRequested': {
      const { expiresAt, ...data } = event.data
      const requestedAtMs = Date.parse(clockOf(event))
      const code = { ...data, requestedAtMs, expiresAtMs: Date.parse(expiresAt), tries: 0, isUsed: false }
      return { ...state, codes: [...recent(state, requestedAtMs), code].slice(-3 * MAX_CODES) }
    }
    case 'LoginCodeTried': {
      const { codeId, correct } = event.data
      const count = (code: RequestedCode): RequestedCode =>
        code.codeId === codeId ? { ...code, tries: code.tries + 1, isUsed: correct } : code
      return { ...state, codes: state.codes.map(count) }
    }
    case 'LoginLinked':
      return { ...state, accountId: event.data.accountId }
    case 'LoginUnlinked':
      return { ...state, accountId: undefined, hadAccount: true }
    case 'WelcomeDecided': {
      const isWelcomed = state.isWelcomed || event.data.welcomeMicros > 0
      return { ...state, isWelcomed, welcomes: [...state.welcomes, event.data].slice(-MAX_WELCOMES) }
    }
    default:
      return unreachable(event)
  }
}

/** Kinds of codes count apart, so that strangers use up no code of a known browser, and see none of a busy time. */
const kindOf = ({ known, busy }: Pick<LoginCodeRequested, 'known' | 'busy'>) =>
  known ? 'known' : busy ? 'busy' : 'other'

/**
 * A clock that went back by more than this was reset. Codes from before the reset do not count, because they would
 * count too long.
 */
const CLOCK_TOLERANCE_MS = 60_000

const recent = ({ codes }: LoginState, atMs: number): RequestedCode[] =>
  codes.filter(
    ({ requestedAtMs }) => requestedAtMs > atMs - CODE_WINDOW_MS && requestedAtMs <= atMs + CLOCK_TOLERANCE_MS,
  )

/** The codes of one identity, and the account that it is linked to. */
export const login: Decider<LoginCommand, LoginState, LoginEvent, Refusal> = { initial, decide, evolve }
