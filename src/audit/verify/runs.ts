import { clockOf } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'
import { type Receipt, receiptFault, ruleFault } from './price.ts'
import type { PriceList } from './price-list.ts'
import { factsOfDebit, refundFactsFault, SharedTexts } from './refund-facts.ts'
import { type AuditedEvent, type ReportEnd, type Rule, runIdOf } from './rule.ts'

type State = 'debited' | 'queued' | 'processing' | 'completed' | 'failed' | 'refunded'

interface Run {
  state: State
  /** The facts that its refunds repeat, as one text. */
  debit: string
  chargedMicros: number
  refundedMicros: number
  /** When a started run must have ended. */
  deadlineMs?: number
  timeoutMs?: number
  /** A test run is never debited and never refunded. */
  isTest?: boolean
  /** Whether its failure says that it may have left files. */
  mayLeaveFiles?: boolean
}

/** The steps of a run: from which states an event may lead to which. */
const STEPS: Readonly<Record<string, { from: readonly State[]; to: State }>> = {
  RunQueued: { from: ['debited'], to: 'queued' },
  RunStarted: { from: ['queued'], to: 'processing' },
  RunSubmitted: { from: ['processing'], to: 'processing' },
  RunCancelRequested: { from: ['processing'], to: 'processing' },
  RunCompleted: { from: ['processing'], to: 'completed' },
  RunFailed: { from: ['queued', 'processing'], to: 'failed' },
}

/** The event that directly follows another about the same run. */
const FOLLOWERS: Readonly<Record<string, string>> = { CreditsDebited: 'RunQueued', RunFailed: 'CreditsRefunded' }

/** A run may end this much later than its time limit says: its end has to be noticed and recorded. */
const GRACE_MS = 10 * 60 * 1000

/** The latest time that JavaScript knows. No event comes after it. */
const LATEST_MS = 8.64e15

/**
 * Each run is debited once, for the price that its receipt and the catalog give; takes only legal steps; ends once; and
 * is refunded in full if it fails, and never more than it cost otherwise. Its refunds repeat the facts of its debit.
 * A test run takes the same steps, and moves no credits.
 */
export class Runs implements Rule {
  readonly #prices: PriceList
  readonly #runs = new Map<string, Run>()
  readonly #facts = new SharedTexts()
  #debit: AuditedEvent | undefined
  /** The event that must come next, and the code of the failure that calls for it. */
  #due: Due | undefined

  constructor(prices: PriceList) {
    this.#prices = prices
  }

  take(event: AuditedEvent, report: Report) {
    const { type } = event
    const runId = runIdOf(event)
    const run = this.#runs.get(runId)
    const due = this.#due
    const isDue = due?.type === type && due.runId === runId
    if (due && !isDue) report(`it is not the ${due.type} of ${due.runId}, which the event before it calls for`)
    this.#due = undefined
    if (type === 'RunQueued' && event.data['livemode'] === false) return this.#takeTest(event, run, report)
    const follower = run?.isTest ? undefined : FOLLOWERS[type]
    if (follower) this.#due = { type: follower, runId, error: (event.data['error'] as { code: string })?.code }
    if (type === 'CreditsDebited') return this.#takeDebit(event, run, report)
    if (type === 'CreditsRefunded') return takeRefund(event, run, isDue ? due : undefined, report)
    if (type === 'RunOutputDeleted') return takeDeletion(run, report)
    const step = STEPS[type]
    if (!step) return
    if (!run) return report(`${runId} was never debited`)
    if (!step.from.includes(run.state)) report(`a run that is ${run.state} cannot become ${step.to}`)
    if (type === 'RunFailed') takeLeftFiles(event, run, report)
    // A test run that has failed is owed nothing.
    run.state = run.isTest && step.to === 'failed' ? 'refunded' : step.to
    if (type === 'RunQueued') this.#takeQueued(event, run, report)
    if (type === 'RunStarted') run.deadlineMs = Date.parse(clockOf(event)) + (run.timeoutMs ?? 0)
  }

  end(report: ReportEnd) {
    if (this.#due) report(`the stream ends before the ${this.#due.type} of ${this.#due.runId}`)
    for (const [runId, { state, deadlineMs = Number.POSITIVE_INFINITY }] of this.#runs)
      if (state === 'processing' && deadlineMs <= LATEST_MS)
        report(
          `${runId} has not ended, and its time was over at ${new Date(deadlineMs).toISOString()}`,
          deadlineMs + GRACE_MS,
        )
  }

  #takeDebit(event: AuditedEvent, run: Run | undefined, report: Report) {
    if (run?.isTest) return report('a test run is debited')
    if (run) report(`${runIdOf(event)} was debited before`)
    const { amountMicros, receipt } = event.data as { amountMicros: number; receipt: Receipt }
    const debit = this.#facts.of(factsOfDebit(event))
    this.#runs.set(runIdOf(event), { state: 'debited', debit, chargedMicros: amountMicros, refundedMicros: 0 })
    this.#debit = event
    if (amountMicros !== receipt.totalMicros)
      report(`it debits ${amountMicros}, and its receipt says ${receipt.totalMicros}`)
    const fault = receiptFault(receipt)
    if (fault) report(fault)
  }

  /** It says itself what it would cost. */
  #takeTest(event: AuditedEvent, run: Run | undefined, report: Report) {
    if (run) report(run.isTest ? `${runIdOf(event)} was queued before` : 'a test run is debited')
    const { receipt, timeoutMs } = event.data as { receipt?: Receipt; timeoutMs: number }
    const costless = { debit: '', chargedMicros: 0, refundedMicros: 0 }
    this.#runs.set(runIdOf(event), { state: 'queued', ...costless, isTest: true, timeoutMs })
    if (!receipt) return report('a test run does not say what it would cost')
    const fault = receiptFault(receipt)
    if (fault) report(fault)
    this.#checkPrice(event, receipt, report)
  }

  #takeQueued(event: AuditedEvent, run: Run, report: Report) {
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

interface Due {
  type: string
  runId: string
  error?: string | undefined
}

/** A run that failed before it started has asked no provider. */
const takeLeftFiles = ({ data }: AuditedEvent, run: Run, report: Report) => {
  run.mayLeaveFiles = data['willDeleteAt'] !== undefined
  if (run.mayLeaveFiles && run.state === 'queued') report('a run that never started cannot have left files')
}

const takeDeletion = (run: Run | undefined, report: Report) => {
  if (run?.state === 'queued' || run?.state === 'processing') report('the output of an open run is deleted')
  if (run?.state === 'refunded' && !run.mayLeaveFiles) report('the files of a failed run that left none are deleted')
}

/** `due` is missing if no failure calls for the refund. */
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
