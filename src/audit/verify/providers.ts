import { providerEvents } from '../../../schemas/provider-events.ts'
import { type AuditedEvent, type Report, type Rule, runIdOf } from '../fault.ts'
import { checkOperator } from './auditors.ts'

/**
 * The end of a completed run holds its cost; other costs directly follow the end of the run, or the refund of a failed
 * run. So a run has at most one cost, of the upstream in its end. A run that was never started has none.
 */
export class ProviderCosts implements Rule {
  readonly #started = new Set<string>()
  /** The run that ended with the previous event. */
  #ended: Ended | undefined

  take(event: AuditedEvent, report: Report) {
    const ended = this.#ended
    this.#ended = undefined
    const runId = runIdOf(event)
    switch (event.type) {
      case 'RunStarted':
        this.#started.add(runId)
        return
      case 'RunCompleted':
      case 'RunFailed': {
        const isRefunded = event.type === 'RunCompleted'
        const { upstream, cost } = event.data as { upstream?: Upstream; cost?: Cost }
        const ended = { runId, upstream: this.#started.delete(runId) ? upstream : undefined, isRefunded }
        if (cost && (event.metadata.format ?? 1) < 3) report('proofs show its cost, since its link has no digest of it')
        // No other cost may follow.
        if (cost) return checkCost({ runId, ...upstream, ...cost }, ended, report)
        this.#ended = ended
        return
      }
      case 'CreditsRefunded':
        if (ended?.runId === runId && !ended.isRefunded) this.#ended = { ...ended, isRefunded: true }
        return
      case 'ProviderCostRecorded':
        return checkCost(event.data as Cost, ended, report)
    }
  }
}

interface Ended {
  runId: string
  upstream: Upstream | undefined
  /** Whether the refund of a failed run comes first. */
  isRefunded: boolean
}

interface Cost extends Upstream {
  runId?: unknown
  amountMicros?: unknown
  currency?: unknown
  source?: unknown
}

const checkCost = (cost: Cost, ended: Ended | undefined, report: Report) => {
  const { runId, amountMicros, currency, source } = cost
  if (!ended?.isRefunded || ended.runId !== runId) return report(`it does not follow the end of ${runId} directly`)
  if (ended.upstream === undefined) report(`no provider has worked on ${runId}`)
  else if (textOf(cost) !== textOf(ended.upstream))
    report(`it is a cost of ${textOf(cost)}, but ${textOf(ended.upstream)} did the run`)
  if (cost.provider === SANDBOX) report('the sandbox costs nothing')
  const hasAmount = amountMicros !== undefined && currency !== undefined
  const hasNone = amountMicros === undefined && currency === undefined
  if (source === 'unknown' ? !hasNone : !hasAmount)
    report(`its source is ${source}, and its amount ${amountMicros ?? 'none'} ${currency ?? ''}`.trimEnd())
}

/** The provider that generates its own output and costs nothing. */
const SANDBOX = 'sandbox'

/** The attempts at a run end with the upstream of the event. Each began after another one had failed, for a reason. */
export const checkAttempts = ({ data }: AuditedEvent, report: Report) => {
  const { attempts, upstream = {} } = data as { attempts?: Attempt[] | number; upstream?: Upstream }
  // Webhooks and notices count theirs.
  if (!Array.isArray(attempts)) return
  const last = { ...attempts.at(-1), version: upstream.version }
  if (textOf(last) !== textOf(upstream)) report(`its last attempt is at ${textOf(last)}, not at ${textOf(upstream)}`)
  if (attempts.slice(0, -1).some(({ failedAt }) => failedAt === undefined))
    report('an attempt follows one that did not fail')
  if (attempts.some(({ failedAt, reason }) => (failedAt === undefined) !== (reason === undefined)))
    report('an attempt failed without a reason, or has a reason and did not fail')
  if (attempts.some(({ status, reason = 'provider_error' }) => status !== undefined && reason === 'provider_error'))
    report('an attempt shows a status that customers may not see')
}

interface Attempt extends Upstream {
  failedAt?: string
  status?: number
  reason?: string
}

interface Upstream {
  provider?: unknown
  model?: unknown
  account?: unknown
  version?: unknown
}

const textOf = ({ provider, model, account, version }: Upstream): string =>
  [provider, model, account, version].map(part => part ?? '–').join(' ')

/** Only operators choose among providers. */
export const checkChoice = ({ type, metadata: { actor } }: AuditedEvent, report: Report) => {
  if (Object.hasOwn(providerEvents, type)) checkOperator(actor, report)
}
