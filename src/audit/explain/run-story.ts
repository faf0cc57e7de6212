import {
  type AcceptedRun,
  costOf,
  isAcceptance,
  type ProviderCostRecorded,
  type RunCompleted,
  type RunError,
  type RunOutput,
  type WorkedUpstream,
} from '../../../schemas/account-events.ts'
import type { Actor } from '../../../schemas/actor.ts'
import type { Receipt, TokenUsage } from '../../../schemas/catalog.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { actorOf } from '../account/key-ring.ts'
import type { LedgerLine } from '../books.ts'
import type { Split } from '../lots.ts'
import type { AccountRecord } from '../read-log.ts'

export interface Step {
  state: 'queued' | 'processing' | 'submitted' | 'cancel_requested' | 'completed' | 'failed' | 'output_deleted'
  at: string
  /** The time since the previous step. */
  sinceMs: number
  actor: Actor
}

export interface Refund {
  at: string
  credits: Split
  reason: string
  actor: Actor
}

/** The part of a debit that the run did not need. `receipt` has the final price. */
export interface Release {
  at: string
  credits: Split
  receipt: Receipt
}

/** An event of a run's webhook. */
export interface WebhookStep {
  kind: 'delivered' | 'failed' | 'abandoned' | 'redelivery_requested'
  at: string
  actor: Actor
  attempt?: number
  status?: number
  reason?: string
  nextAttemptAt?: string
  /** The URL of a redelivery. */
  url?: string
}

const STATES: Readonly<Partial<Record<AccountRecord['type'], Step['state']>>> = {
  RunQueued: 'queued',
  RunStarted: 'processing',
  RunSubmitted: 'submitted',
  RunCancelRequested: 'cancel_requested',
  RunCompleted: 'completed',
  RunFailed: 'failed',
  RunOutputDeleted: 'output_deleted',
}

/** Everything in the log about one run. */
export class RunStory {
  readonly events: AccountRecord[] = []
  readonly steps: Step[] = []
  release: Release | undefined
  readonly refunds: Refund[] = []
  readonly webhook: WebhookStep[] = []
  receipt: Receipt | undefined
  label: string | undefined
  /** The credits that the debit used up. */
  used: Split = { freeMicros: 0, paidMicros: 0 }
  request: AcceptedRun | undefined
  jobId: string | undefined
  /** The last upstream of the run. */
  upstream: WorkedUpstream | undefined
  /** The provider's charge. */
  cost: ProviderCostRecorded | undefined
  /** The tokens of a completed run of a text model. */
  usage: TokenUsage | undefined
  output: RunOutput | undefined
  /** Why a text ends early. */
  finishReason: RunCompleted['finishReason']
  outputDeletedAt: string | undefined
  error: RunError | undefined
  #stepAtMs: number | undefined

  /** Takes the run's next event, with its line if it moved credits. */
  take(event: AccountRecord, line: LedgerLine | undefined) {
    this.events.push(event)
    const state = STATES[event.type]
    if (state) this.#addStep(state, event)
    this.#takeContents(event, line)
    this.#takeWebhook(event)
  }

  /** A test run has no debit. Its receipt shows the hypothetical price. */
  get isTest(): boolean {
    return this.request?.livemode === false
  }

  /** The status of the run in the API, from its last step that is a status. */
  get status(): string {
    const states: string[] = ['queued', 'processing', 'completed', 'failed']
    return this.steps.findLast(step => states.includes(step.state))?.state ?? 'debited'
  }

  #addStep(state: Step['state'], event: AccountRecord) {
    const atMs = Date.parse(clockOf(event))
    this.steps.push({ state, at: event.metadata.at, sinceMs: atMs - (this.#stepAtMs ?? atMs), actor: actorOf(event) })
    this.#stepAtMs = atMs
  }

  #takeContents(event: AccountRecord, line: LedgerLine | undefined) {
    if (isAcceptance(event)) this.#takeRequest(event.data)
    this.cost = costOf(event) ?? this.cost
    const { type, data, metadata } = event
    switch (type) {
      case 'CreditsDebited':
        this.receipt = data.receipt
        this.label = data.label
        if (line) this.used = { freeMicros: 0 - line.change.freeMicros, paidMicros: 0 - line.change.paidMicros }
        return
      case 'CreditsRefunded':
        if (line)
          this.refunds.push({ at: metadata.at, credits: line.change, reason: data.reason, actor: actorOf(event) })
        return
      case 'CreditsReleased':
        if (line) this.release = { at: metadata.at, credits: line.change, receipt: data.receipt }
        return
      case 'RunStarted':
        this.upstream = data.upstream
        return
      case 'RunSubmitted':
        this.jobId = data.jobId
        this.upstream = data.upstream
        return
      case 'RunCompleted':
        this.output = data.output
        this.finishReason = data.finishReason
        this.usage = data.usage
        this.upstream = data.upstream ?? this.upstream
        return
      case 'RunFailed':
        this.error = data.error
        this.upstream = data.upstream ?? this.upstream
        return
      case 'RunOutputDeleted':
        this.outputDeletedAt = metadata.at
    }
  }

  #takeRequest(request: AcceptedRun) {
    this.request = request
    if (request.livemode !== false) return
    this.receipt = request.receipt
    this.label = request.label
  }

  #takeWebhook(event: AccountRecord) {
    const { type, data, metadata } = event
    const about = { at: metadata.at, actor: actorOf(event) }
    switch (type) {
      case 'WebhookDelivered':
        this.webhook.push({ kind: 'delivered', ...about, attempt: data.attempt, status: data.status })
        return
      case 'WebhookAttemptFailed': {
        const { runId: _, ...failure } = data
        this.webhook.push({ kind: 'failed', ...about, ...failure })
        return
      }
      case 'WebhookAbandoned':
        this.webhook.push({ kind: 'abandoned', ...about, attempt: data.attempts })
        return
      case 'WebhookRedeliveryRequested':
        this.webhook.push({ kind: 'redelivery_requested', ...about, url: data.url })
    }
  }
}
