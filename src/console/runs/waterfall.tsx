import type { Children } from '#jsx/jsx-runtime'
import type { RunStep } from '../../services/runs/run-timeline.ts'
import { PageContext } from '../page-state.ts'
import { duration } from '../parts/text.ts'
import type { RunFacts } from './run-facts.ts'
import { creditsOf, providerName } from './run-words.ts'

/** The narrowest bar, in percent. */
const MIN_WIDTH = 0.8

/** What happened to a run, as bars on one scale from its acceptance on. */
export const Waterfall = ({ facts }: { facts: RunFacts }) => (
  <PageContext.Consumer>
    {({ nowMs }) => {
      const { run, steps } = facts
      const sinceMs = Math.max(0, nowMs - Date.parse(run.created_at))
      const scaleMs = scaleOf(steps, sinceMs)
      return (
        <section class="card" aria-labelledby="happened">
          <div class="head">
            <h2 id="happened">What happened</h2>
            <span class="small faint">all times from acceptance</span>
          </div>
          <table class="waterfall">
            <thead class="visually-hidden">
              <tr>
                <th>Step</th>
                <th>From and to</th>
                <th>Time</th>
              </tr>
            </thead>
            <tbody>
              {steps.map((step, index) => (
                <tr key={index}>
                  <th scope="row">
                    <span>{nameOf(step, facts)}</span>
                    {badgeOf(step, facts)}
                  </th>
                  <td>
                    <Bar step={step} tone={toneOf(step, facts)} scaleMs={scaleMs} sinceMs={sinceMs} />
                  </td>
                  <td class="num muted">{timeOf(step, sinceMs)}</td>
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

const toneOf = ({ kind, attempt }: RunStep, { run }: RunFacts): string => {
  const isBad = kind === 'webhook' ? attempt?.reason !== undefined : kind === 'working' && isFault(run)
  return isBad ? 'bad' : TONES[kind]
}

/** Whether the provider failed. */
const isFault = ({ error }: RunFacts['run']): boolean =>
  error !== undefined && error.code !== 'cancelled' && error.code !== 'interrupted'

const TONES: Record<RunStep['kind'], string> = {
  accepted: 'soft',
  waiting: 'soft',
  refused: 'bad',
  submitting: 'soft',
  working: '',
  cancel_requested: 'soft',
  completed: 'soft',
  failed: 'soft',
  webhook: '',
  refunded: 'soft',
  deleted: 'soft',
}

const isOngoing = ({ kind, endMs }: RunStep) => endMs === undefined && (kind === 'waiting' || kind === 'working')

const endOf = (step: RunStep, sinceMs: number) => (isOngoing(step) ? sinceMs : step.endMs)

/** How long a step took, or when it was. */
const timeOf = (step: RunStep, sinceMs: number): string => {
  const { startMs } = step
  if (startMs === undefined) return ''
  const endMs = endOf(step, sinceMs)
  return endMs === undefined || endMs === startMs ? `at ${duration(startMs)}` : duration(endMs - startMs)
}

const nameOf = ({ kind, upstream, amountMicros = 0 }: RunStep, { run, files }: RunFacts): Children => {
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
      return 'You asked to cancel'
    case 'completed':
      return [files.length > 0 && 'stored', run.credits_released === undefined ? 'settled' : 'released']
        .filter(Boolean)
        .join(' and ')
        .replace(/^./, first => first.toUpperCase())
    case 'failed':
      return run.livemode ? 'Failed and refunded' : 'Failed'
    case 'webhook':
      return 'Webhook'
    case 'refunded':
      return `${creditsOf(amountMicros / 1_000_000)} refunded`
    case 'deleted':
      return 'Files deleted'
  }
}

const badgeOf = ({ kind, attempt }: RunStep, { run }: RunFacts): Children => {
  if (kind === 'working' && isFault(run))
    return <span class="badge bad plain">{BADGES[run.error?.code ?? ''] ?? 'failed'}</span>
  if (kind === 'refused') return <span class="badge bad plain">did not take it</span>
  if (!attempt) return null
  const tone = attempt.reason === undefined ? 'good' : 'bad'
  return <span class={`badge plain ${tone}`}>{attempt.status ?? 'no answer'}</span>
}

const BADGES: Readonly<Record<string, string>> = {
  content_rejected: 'refused',
  invalid_input: 'refused',
  provider_timeout: 'too slow',
}
