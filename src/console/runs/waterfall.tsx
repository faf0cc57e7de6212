import type { Children } from '#jsx/jsx-runtime'
import type { AttemptFailure, RunErrorCode } from '../../../schemas/account-events.ts'
import type { Run } from '../../../schemas/api/run.ts'
import type { RunStep } from '../../services/runs/run-timeline.ts'
import { PageContext } from '../page-state.ts'
import { duration } from '../parts/text.ts'
import type { RunFile } from './run-facts.ts'
import { creditsOf, providerName } from './run-words.ts'

/** What a waterfall shows of a run. */
export interface Course {
  run: Pick<Run, 'created_at' | 'livemode' | 'error' | 'credits_released'>
  files: readonly Pick<RunFile, 'mimeType'>[]
  steps: readonly RunStep[]
}

/** The narrowest bar, in percent. */
const MIN_WIDTH = 0.8

/** What happened to a run, as bars on one scale from its acceptance on. */
export const Waterfall = ({ facts }: { facts: Course }) => (
  <PageContext.Consumer>
    {({ nowMs }) => {
      const { run, steps } = facts
      const sinceMs = Math.max(0, nowMs - Date.parse(run.created_at))
      const scaleMs = scaleOf(steps, sinceMs)
      return (
        <section class="card" aria-labelledby="happened">
          <div class="head">
            <h2 id="happened">What happened</h2>
          </div>
          <table class="waterfall">
            <thead>
              <tr>
                <th>Step</th>
                <td />
                <th class="num" title="Since the run was accepted">
                  At
                </th>
                <th class="num">Took</th>
              </tr>
            </thead>
            <tbody>
              {steps.map((step, index) => (
                <tr key={index}>
                  <th scope="row">
                    <span>{nameOf(step, facts)}</span>
                    {badgeOf(step, facts)}
                    {step.status !== undefined && step.reason && (
                      <span class="reason small muted">{REASONS[step.reason]}</span>
                    )}
                  </th>
                  <td>
                    <Bar step={step} tone={toneOf(step, facts)} scaleMs={scaleMs} sinceMs={sinceMs} />
                  </td>
                  <td class="num muted">{step.startMs !== undefined && duration(step.startMs)}</td>
                  <td class="num">{lengthOf(step, sinceMs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )
    }}
  </PageContext.Consumer>
)

/** A later webhook or refund has no place on the scale, on which it would hide all else. */
const scaleOf = (steps: readonly RunStep[], sinceMs: number): number => {
  const end = steps.find(({ kind }) => kind === 'completed' || kind === 'failed')?.startMs ?? sinceMs
  const near = steps.map(({ startMs = 0, endMs = startMs }) => endMs).filter(ms => ms <= 2 * end + 1000)
  return Math.max(1, end, ...near)
}

interface BarProps {
  step: RunStep
  tone: string
  scaleMs: number
  sinceMs: number
}

const Bar = ({ step, tone, scaleMs, sinceMs }: BarProps) => {
  const { startMs } = step
  if (startMs === undefined || startMs > scaleMs) return null
  const endMs = endOf(step, sinceMs) ?? startMs
  const width = Math.max(MIN_WIDTH, ((Math.min(endMs, scaleMs) - startMs) / scaleMs) * 100)
  const x = Math.min((startMs / scaleMs) * 100, 100 - width)
  const isOpen = endMs === sinceMs && isOngoing(step)
  return (
    <svg class={`step-bar ${tone}${isOpen ? ' open' : ''}`} width="100%" height="12" aria-hidden="true">
      <rect x={`${x.toFixed(2)}%`} width={`${width.toFixed(2)}%`} height="12" rx="3" />
    </svg>
  )
}

const toneOf = ({ kind, attempt }: RunStep, { run }: Course): string => {
  const isBad = kind === 'webhook' ? attempt?.reason !== undefined : kind === 'working' && isFault(run)
  return isBad ? 'bad' : TONES[kind]
}

/** Whether the provider failed. */
const isFault = ({ error }: Course['run']): boolean =>
  error !== undefined && error.code !== 'cancelled' && error.code !== 'interrupted'

const TONES: Record<RunStep['kind'], string> = {
  accepted: 'soft',
  waiting: 'soft',
  refused: 'bad',
  submitting: 'soft',
  working: '',
  cancel_requested: 'soft',
  stored: '',
  completed: 'soft',
  failed: 'soft',
  webhook: '',
  refunded: 'soft',
  deleted: 'soft',
}

const isOngoing = ({ kind, endMs }: RunStep) => endMs === undefined && (kind === 'waiting' || kind === 'working')

const endOf = (step: RunStep, sinceMs: number) => (isOngoing(step) ? sinceMs : step.endMs)

/** How long a step took, or has taken so far. A moment has no length. */
const lengthOf = (step: RunStep, sinceMs: number): string => {
  const { startMs = 0 } = step
  const endMs = endOf(step, sinceMs) ?? startMs
  return endMs > startMs ? duration(endMs - startMs) : ''
}

const nameOf = ({ kind, upstream, amountMicros = 0 }: RunStep, { run, files, steps }: Course): Children => {
  const provider = upstream ? providerName(upstream.provider) : 'The provider'
  switch (kind) {
    case 'accepted':
      return run.livemode ? 'Accepted and debited' : 'Accepted'
    case 'waiting':
      return 'Waiting'
    case 'refused':
      return provider
    case 'submitting':
      return `Sent to ${provider}`
    case 'working':
      return provider
    case 'cancel_requested':
      return 'Asked to cancel'
    case 'stored':
      return `${filesName(files)} stored`
    case 'completed': {
      const end = !run.livemode
        ? 'Completed'
        : run.credits_released === undefined
          ? 'Settled'
          : 'Returned the unused part'
      // Older runs do not tell when their files were stored.
      return files.length > 0 && !steps.some(step => step.kind === 'stored') ? `Stored and ${end.toLowerCase()}` : end
    }
    case 'failed':
      return (run.error?.code === 'cancelled' ? 'Cancelled' : 'Failed') + (run.livemode ? ' and refunded' : '')
    case 'webhook':
      return 'Webhook'
    case 'refunded':
      return `${creditsOf(amountMicros / 1_000_000)} refunded`
    case 'deleted':
      return 'Files deleted'
  }
}

const badgeOf = ({ kind, attempt, status, reason }: RunStep, { run }: Course): Children => {
  if (kind === 'working' && isFault(run))
    return <span class="badge bad plain">{(run.error && FAILURES[run.error.code]) ?? 'failed'}</span>
  if (kind === 'refused') return <span class="badge bad plain">{status ?? (reason ? REASONS[reason] : UNKNOWN)}</span>
  if (!attempt) return null
  const tone = attempt.reason === undefined ? 'good' : 'bad'
  return <span class={`badge plain ${tone}`}>{attempt.status ?? 'no answer'}</span>
}

/** Why the job of a provider failed, in a word or two. */
const FAILURES: Partial<Record<RunErrorCode, string>> = {
  content_rejected: 'refused',
  invalid_input: 'refused',
  provider_timeout: 'too slow',
}

/** Why a provider did not take a run, in a word or two. */
const REASONS: Record<AttemptFailure, string> = {
  rate_limited: 'too many requests',
  overloaded: 'overloaded',
  unreachable: 'not reachable',
  model_not_found: 'no such model',
  content_rejected: 'content refused',
  provider_error: 'not available',
  provider_timeout: 'too slow',
  interrupted: 'connection lost',
  invalid_input: 'input refused',
  cancelled: 'cancelled',
}

const UNKNOWN = 'did not take it'

/** What the files are, by the first of them. */
const filesName = (files: Course['files']): string => {
  const [kind = ''] = files[0]?.mimeType.split('/') ?? []
  return `${FILES[kind] ?? 'File'}${files.length === 1 ? '' : 's'}`
}

const FILES: Readonly<Record<string, string>> = { image: 'Image', video: 'Video', audio: 'Sound', text: 'Text' }
