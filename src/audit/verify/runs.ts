import { isAcceptance } from '../../../schemas/account-events.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { type AuditedEvent, type Report, type ReportEnd, type Rule, runIdOf } from '../fault.ts'
import { type PriceList, type Receipt, receiptFault, ruleFault } from './prices.ts'
import { isReserve, type Release, releaseFaults, type Usage, usageFault } from './releases.ts'

/**
 * Each run is debited once, for the price in its receipt and in the catalog. It takes only legal steps and ends once.
 * If its tokens have a price, the rest of its debit is released directly before it completes. If it fails, it is
 * refunded in full; otherwise its refunds never exceed the debit less the release. Refunds and releases repeat facts of
 * the debit. A test run takes the same steps but moves no credits.
 */
export class Runs implements Rule {
  readonly #prices: PriceList
  readonly #runs = new Map<string, Run>()
  readonly #facts = new SharedTexts()
  #debit: AuditedEvent | undefined
  /** The event that must follow, and the code of the failure that requires it. */
  #due: Due | undefined

  constructor(prices: PriceList) {
    this.#prices = prices
  }

  take(event: AuditedEvent, report: Report) {
    const { type } = event
    const accepts = isAcceptance(event)
    const runId = runIdOf(event)
    const due = this.#due
    const isDue = due?.what === (accepts ? ACCEPTANCE : type) && due.runId === runId
    if (due && !isDue) report(`it is not the ${due.what} of ${due.runId}, which the previous event requires`)
    this.#due = undefined
    if (accepts && event.data.livemode === false) this.#takeTest(event, this.#runs.get(runId), report)
    const run = this.#runs.get(runId)
    const follower = run?.isTest ? undefined : FOLLOWERS[type]
    if (follower) this.#due = { what: follower, runId, error: (event.data['error'] as { code: string })?.code }
    if (type === 'CreditsDebited') return this.#takeDebit(event, run, report)
    if (type === 'CreditsRefunded') return takeRefund(event, run, isDue ? due : undefined, report)
    if (type === 'CreditsReleased') return takeRelease(event, run, report)
    if (type === 'RunOutputDeleted') return takeDeletion(run, report)
    if (type === 'RunsArchived') return this.#takeArchived(event, report)
    const step = (accepts ? ACCEPTING_STEPS : STEPS)[type]
    if (!step) return
    if (!run) return report(`${runId} was never debited`)
    if (!step.from.includes(run.state)) report(`a run that is ${run.state} cannot become ${step.to}`)
    if (type === 'RunFailed') takeLeftFiles(event, run, report)
    if (type === 'RunCompleted') takeUsage(event, run, report)
    // A failed test run gets no refund.
    run.state = run.isTest && step.to === 'failed' ? 'refunded' : step.to
    // A log has many runs, and only open ones need their receipts.
    if (type === 'RunCompleted' || type === 'RunFailed') [run.reserve, run.settled] = [undefined, undefined]
    if (accepts) this.#takeAccepted(event, run, report)
    if (type === 'RunStarted') run.deadlineMs = Date.parse(clockOf(event)) + (run.timeoutMs ?? 0)
  }

  end(report: ReportEnd) {
    if (this.#due) report(`the stream ends before the ${this.#due.what} of ${this.#due.runId}`)
    for (const [runId, { state, deadlineMs = Number.POSITIVE_INFINITY }] of this.#runs)
      if (state === 'processing' && deadlineMs <= LATEST_MS)
        report(
          `${runId} has not ended, and its time was over at ${new Date(deadlineMs).toISOString()}`,
          deadlineMs + GRACE_MS,
        )
  }

  #takeArchived({ data }: AuditedEvent, report: Report) {
    for (const { runId } of data['runs'] as { runId: string }[]) {
      const { state } = this.#runs.get(runId) ?? {}
      if (state !== 'completed' && state !== 'refunded') report(`it archives ${runId}, which has not ended`)
    }
  }

  #takeDebit(event: AuditedEvent, run: Run | undefined, report: Report) {
    if (run?.isTest) return report('a test run is debited')
    if (run) report(`${runIdOf(event)} was debited before`)
    const { amountMicros, receipt } = event.data as { amountMicros: number; receipt: Receipt }
    const debit = this.#facts.of(factsOfDebit(event))
    const debited: Run = { state: 'debited', debit, chargedMicros: amountMicros, refundedMicros: 0 }
    this.#runs.set(runIdOf(event), isReserve(receipt) ? { ...debited, reserve: receipt } : debited)
    this.#debit = event
    if (amountMicros !== receipt.totalMicros)
      report(`it debits ${amountMicros}, and its receipt says ${receipt.totalMicros}`)
    const fault = receiptFault(receipt)
    if (fault) report(fault)
  }

  /** A test run states its hypothetical price. */
  #takeTest(event: AuditedEvent, run: Run | undefined, report: Report) {
    if (run) report(run.isTest ? `${runIdOf(event)} was accepted before` : 'a test run is debited')
    const { receipt } = event.data as { receipt?: Receipt }
    // It is accepted like a run that was debited.
    const costless = { debit: '', chargedMicros: 0, refundedMicros: 0 }
    this.#runs.set(runIdOf(event), { state: 'debited', ...costless, isTest: true })
    if (!receipt) return report('a test run does not say what it would cost')
    const fault = receiptFault(receipt)
    if (fault) report(fault)
    this.#checkPrice(event, receipt, report)
  }

  #takeAccepted(event: AuditedEvent, run: Run, report: Report) {
    run.timeoutMs = Number(event.data['timeoutMs'])
    const debit = this.#debit
    this.#debit = undefined
    if (debit === undefined || runIdOf(debit) !== runIdOf(event)) return
    this.#checkPrice(event, (debit.data as { receipt: Receipt }).receipt, report)
  }

  #checkPrice({ data }: AuditedEvent, receipt: Receipt, report: Report) {
    const { model, endpoint, input } = data as { model: string; endpoint: string; input: Record<string, unknown> }
    if (receipt.model !== model || receipt.endpoint !== endpoint)
      return report(`it runs ${model}/${endpoint}, and its receipt is for ${receipt.model}/${receipt.endpoint}`)
    const rule = this.#prices.ruleOf(receipt)
    const fault = typeof rule === 'string' ? rule : ruleFault(receipt, rule, input)
    if (fault) report(fault)
  }
}

type State = 'debited' | 'queued' | 'processing' | 'completed' | 'failed' | 'refunded'

interface Run {
  state: State
  /** The facts of the debit that refunds must repeat, as one text. */
  debit: string
  /** The debit, less the release. */
  chargedMicros: number
  refundedMicros: number
  /** The time by which a started run must have ended. */
  deadlineMs?: number
  timeoutMs?: number
  /** The receipt of the debit if tokens have a price. */
  reserve?: Receipt | undefined
  /** The receipt of the release. */
  settled?: Receipt | undefined
  /** A test run is never debited or refunded. */
  isTest?: boolean
  /** Whether its failure may have left files. */
  mayLeaveFiles?: boolean
}

/** The steps of a run: the states before an event, and the state after it. */
type Steps = Readonly<Record<string, { from: readonly State[]; to: State }>>

const ACCEPTING_STEPS: Steps = {
  RunQueued: { from: ['debited'], to: 'queued' },
  RunStarted: { from: ['debited'], to: 'processing' },
}
const STEPS: Steps = {
  RunStarted: { from: ['queued'], to: 'processing' },
  RunSubmitted: { from: ['processing'], to: 'processing' },
  RunCancelRequested: { from: ['processing'], to: 'processing' },
  RunCompleted: { from: ['processing'], to: 'completed' },
  RunFailed: { from: ['queued', 'processing'], to: 'failed' },
}

const ACCEPTANCE = 'acceptance'

/** Events that must directly follow another event of the same run. */
const FOLLOWERS: Readonly<Record<string, string>> = {
  CreditsDebited: ACCEPTANCE,
  CreditsReleased: 'RunCompleted',
  RunFailed: 'CreditsRefunded',
}

/** A run may end this much after its time limit, because its end must be noticed and recorded. */
const GRACE_MS = 10 * 60 * 1000

/** The latest time in JavaScript. No event is later. */
const LATEST_MS = 8.64e15

interface Due {
  what: string
  runId: string
  error?: string | undefined
}

/** A run that failed before it started has never reached a provider. */
const takeLeftFiles = ({ data }: AuditedEvent, run: Run, report: Report) => {
  run.mayLeaveFiles = data['willDeleteAt'] !== undefined
  if (run.mayLeaveFiles && run.state === 'queued') report('a run that never started cannot have left files')
}

const takeDeletion = (run: Run | undefined, report: Report) => {
  if (run?.state === 'queued' || run?.state === 'processing') report('the output of an open run is deleted')
  if (run?.state === 'refunded' && !run.mayLeaveFiles) report('the files of a failed run that left none are deleted')
}

const takeRelease = ({ data }: AuditedEvent, run: Run | undefined, report: Report) => {
  if (!run) return report('it settles a run that was never debited')
  if (run.isTest) return report('a test run is settled')
  if (run.state !== 'processing') report(`it settles a run that is ${run.state}`)
  const release = data as unknown as Release & { debit: Facts }
  if (textOf(release.debit) !== run.debit)
    report(`it repeats the debit ${textOf(release.debit)}, which was ${run.debit}`)
  for (const fault of releaseFaults(release, run)) report(fault)
  run.settled = release.receipt
  run.chargedMicros -= release.amountMicros
}

const takeUsage = ({ data }: AuditedEvent, { reserve, settled }: Run, report: Report) => {
  const fault = reserve && usageFault(data['usage'] as Usage | undefined, reserve, settled)
  if (fault) report(fault)
}

/** `due` is missing if no failure requires the refund. */
const takeRefund = ({ data }: AuditedEvent, run: Run | undefined, due: Due | undefined, report: Report) => {
  const amountMicros = Number(data['amountMicros'])
  if (!run) return report('it refunds a run that was never debited')
  if (run.isTest) return report('a test run is refunded')
  const fault = refundFactsFault(data, run.debit, due?.error)
  if (fault) report(fault)
  run.refundedMicros += amountMicros
  if (run.refundedMicros > run.chargedMicros)
    report(`the refunds of the run are ${run.refundedMicros}, and it cost ${run.chargedMicros}`)
  if (due) {
    run.state = 'refunded'
    if (run.refundedMicros < run.chargedMicros)
      report(`a failed run is refunded ${run.refundedMicros} of the ${run.chargedMicros} that it cost`)
  } else if (run.state !== 'completed') report(`it refunds a run that is ${run.state}`)
}

/** The facts of a debit that its refunds and its release must repeat, as one text. */
const factsOfDebit = ({ data, metadata }: AuditedEvent): string => {
  const { model, endpoint } = data['receipt'] as { model: string; endpoint: string }
  const { keyId } = metadata.actor as { keyId?: string }
  return textOf({ model, endpoint, keyId, label: data['label'] as string | undefined })
}

/**
 * Compares a refund with the facts of its debit, and with the code of a failure that requires it. Returns the fault, or
 * undefined. The oldest refunds have neither.
 */
const refundFactsFault = (
  refund: AuditedEvent['data'],
  debitText: string,
  failure: string | undefined,
): string | undefined => {
  const { debit, error } = refund as { debit?: Facts; error?: string }
  if (debit && textOf(debit) !== debitText) return `it repeats the debit ${textOf(debit)}, which was ${debitText}`
  if (error !== (debit && failure)) return `it repeats the error ${error ?? 'none'}, which was ${failure ?? 'none'}`
  return undefined
}

interface Facts {
  model: string
  endpoint: string
  keyId?: string | undefined
  label?: string | undefined
}

const textOf = ({ model, endpoint, keyId, label }: Facts): string => JSON.stringify({ model, endpoint, keyId, label })

/** Stores equal texts once. A log has far more debits than different texts. */
class SharedTexts {
  readonly #texts = new Map<string, string>()

  of(text: string): string {
    const known = this.#texts.get(text)
    if (known === undefined) this.#texts.set(text, text)
    return known ?? text
  }
}

/** An idempotency key belongs to one run of its mode for 24 hours. */
export class Requests implements Rule {
  /** The time of each key's last use, in the time from which durations count. */
  readonly #usedAtMs = new Map<string, number>()

  take(event: AuditedEvent, report: Report) {
    const { idempotency, livemode } = event.data as { idempotency?: { key: string }; livemode?: false }
    if (!isAcceptance(event) || !idempotency) return
    const nowMs = Date.parse(clockOf(event))
    // A key has no spaces, so keys of the two modes cannot collide.
    const key = `${livemode === false ? 'test ' : ''}${idempotency.key}`
    const usedAtMs = this.#usedAtMs.get(key)
    if (usedAtMs !== undefined && nowMs - usedAtMs < DAY_MS)
      report(`${runIdOf(event)} has the idempotency key of another run of the same 24 hours`)
    this.#usedAtMs.set(key, nowMs)
  }
}

const DAY_MS = 24 * 60 * 60 * 1000
