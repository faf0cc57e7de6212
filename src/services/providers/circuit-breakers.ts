import type { Clock } from '../../ports/clock.ts'
import type { ProviderFault, ProviderOutcome, Submitted } from '../../ports/provider.ts'
import type { ProviderAccount } from './provider-account.ts'

/** Failures in succession that open the breaker of a model. Without it, every run would wait for a dead provider. */
const MAX_FAILURES = 5

/** How long the breaker of a model stays open, and how long the attempt that tests the model may take. */
const OPEN_MS = 30_000

/** How long the breaker of a refused account stays open. Only the operator can fix it, so attempts are rare. */
const REFUSED_OPEN_MS = 5 * 60_000

/** How long the breaker of an account stays open after a 429 that does not say how long to wait. */
const RATE_LIMIT_OPEN_MS = 5_000

/** The longest wait, even if a provider requests a longer one. */
export const MAX_WAIT_MS = 5 * 60_000

/** Why an account or a model takes no jobs, and until when, on the monotonic clock. */
export interface OpenBreaker {
  kind: ProviderFault['kind']
  untilMs: number
}

/** An open breaker of an account, or of one of its models. */
export interface NamedBreaker extends OpenBreaker {
  provider: string
  account: string
  model?: string
}

type AccountName = Pick<ProviderAccount, 'provider' | 'account'>

/** What to ask again: one account of a provider or all, and one model or all. */
export interface WaitOf {
  provider: string
  account?: string | undefined
  model?: string | undefined
}

/** Learns which accounts are refused, and which work. Called after every answer. */
export interface BreakerWatcher {
  works(account: AccountName): void
  refused(account: AccountName, reason: 'unauthorized' | 'out_of_quota'): void
}

/** What an answer changes, so that the log has it once, until an attempt succeeds. */
export interface BreakerChange {
  /** A fault that only the operator can fix. */
  fault?: ProviderFault['kind']
  /** A breaker has opened. */
  opened?: NamedBreaker
}

interface Breaker {
  failures: number
  /** Of the last failure. */
  kind: ProviderFault['kind']
  open?: OpenBreaker
}

/**
 * Circuit breakers: one for each account at a provider, and one for each model of an account. When the time of an open
 * breaker has passed, a single attempt shows whether the account or model works again.
 */
export class CircuitBreakers {
  readonly #clock: Clock
  readonly #watcher: BreakerWatcher | undefined
  readonly #breakers = new Map<string, Breaker>()

  constructor(clock: Clock, watcher?: BreakerWatcher) {
    this.#clock = clock
    this.#watcher = watcher
  }

  /** Why the account takes no job for the model now, and until when at the least; undefined if it takes one. */
  openBreakerOf(account: AccountName, model: string): OpenBreaker | undefined {
    const nowMs = this.#clock.monotonicMs()
    let last: OpenBreaker | undefined
    for (const name of namesOf(account, model)) {
      const open = this.#breakers.get(name)?.open
      if (open && open.untilMs > (last?.untilMs ?? nowMs)) last = open
    }
    return last
  }

  /** All open breakers. */
  openBreakers(): NamedBreaker[] {
    const nowMs = this.#clock.monotonicMs()
    return [...this.#breakers].flatMap(([name, { open }]) =>
      open && open.untilMs > nowMs ? [{ ...open, ...partsOf(name) }] : [],
    )
  }

  /** The operator says that it works again. If an account is named, its check worked. */
  endWait(of: WaitOf) {
    for (const name of this.#breakers.keys()) if (concerns(of, partsOf(name))) this.#breakers.delete(name)
    const { provider, account } = of
    if (account !== undefined) this.#watcher?.works({ provider, account })
  }

  /** An attempt begins. After an open breaker, other attempts wait until this attempt shows whether the model works. */
  beginCall(account: ProviderAccount, model: string) {
    const untilMs = this.#clock.monotonicMs() + OPEN_MS
    for (const name of namesOf(account, model)) {
      const breaker = this.#breakers.get(name)
      if (breaker?.open) breaker.open = { ...breaker.open, untilMs }
    }
  }

  /** An attempt ended with an answer; undefined if there was none. */
  endCall(account: ProviderAccount, model: string, answer: ProviderOutcome | Submitted | undefined): BreakerChange {
    const [ofAccount, ofModel] = namesOf(account, model)
    const fault = answer ? faultOf(answer) : ({ kind: 'unreachable' } as const)
    if (!fault) {
      this.#breakers.delete(ofAccount)
      this.#breakers.delete(ofModel)
      this.#watcher?.works(account)
      return {}
    }
    const { kind } = fault
    const name = OF_MODEL.has(kind) ? ofModel : ofAccount
    const before = this.#breakers.get(name)
    const after = OF_MODEL.has(kind) ? this.#failed(kind, before) : this.#refused(fault)
    this.#breakers.set(name, after)
    if (kind === 'unauthorized' || kind === 'out_of_quota') this.#watcher?.refused(account, kind)
    return {
      ...(FOR_OPERATOR.has(kind) && kind !== before?.kind && { fault: kind }),
      ...(after.open && !before?.open && { opened: { ...after.open, ...partsOf(name) } }),
    }
  }

  /** An attempt was given up before there could be an answer. */
  abandonCall(account: ProviderAccount, model: string) {
    const nowMs = this.#clock.monotonicMs()
    for (const name of namesOf(account, model)) {
      const breaker = this.#breakers.get(name)
      if (breaker?.open) breaker.open = { ...breaker.open, untilMs: nowMs }
    }
  }

  #failed(kind: ProviderFault['kind'], { failures: before }: Pick<Breaker, 'failures'> = { failures: 0 }): Breaker {
    const failures = before + 1
    const untilMs = this.#clock.monotonicMs() + OPEN_MS
    return { failures, kind, ...(failures >= MAX_FAILURES && { open: { kind, untilMs } }) }
  }

  #refused(fault: ProviderFault): Breaker {
    const { kind } = fault
    return { failures: 1, kind, open: { kind, untilMs: this.#clock.monotonicMs() + openMsOf(fault) } }
  }
}

/** These do not concern other models of the account. */
const OF_MODEL = new Set<ProviderFault['kind']>(['overloaded', 'unreachable', 'gone'])

/** These last until the operator acts. */
const FOR_OPERATOR = new Set<ProviderFault['kind']>(['unauthorized', 'out_of_quota', 'gone'])

const namesOf = ({ provider, account }: AccountName, model: string) =>
  [`${provider}/${account}`, `${provider}/${account}/${model}`] as const

/** Ids of models may contain slashes. */
const partsOf = (name: string): AccountName & { model?: string } => {
  const [provider = '', account = '', ...model] = name.split('/')
  return { provider, account, ...(model.length > 0 && { model: model.join('/') }) }
}

/** Whether a wait is among the named waits. The name of an account without a model stands for all its models. */
const concerns = (of: WaitOf, { provider, account, model }: ReturnType<typeof partsOf>): boolean =>
  provider === of.provider &&
  (of.account === undefined || account === of.account) &&
  (of.model === undefined || model === of.model)

const faultOf = (answer: ProviderOutcome | Submitted): ProviderFault | undefined =>
  answer.kind === 'failed' ? answer.fault : undefined

const openMsOf = ({ kind, retryAfterMs = RATE_LIMIT_OPEN_MS }: ProviderFault): number =>
  kind === 'rate_limited' ? Math.min(retryAfterMs, MAX_WAIT_MS) : REFUSED_OPEN_MS
