import type { RunStatus } from '../../../schemas/views.ts'

/** What the list of runs shows, as its address says it. */
export interface ShownFilter {
  range: RangeName
  /** A part of the range, or any period. ISO 8601 in UTC. */
  from?: string | undefined
  to?: string | undefined
  status?: RunStatus | undefined
  model?: string | undefined
  key?: string | undefined
  label?: string | undefined
  view: 'gallery' | 'list'
}

export const RANGES = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  '1y': 'Last year',
} as const
export type RangeName = keyof typeof RANGES

export const isRange = (text: string): text is RangeName => Object.hasOwn(RANGES, text)

export const STATUS_NAMES: Readonly<Record<RunStatus, string>> = {
  completed: 'completed',
  failed: 'failed',
  processing: 'in progress',
  queued: 'waiting',
}

export const isStatus = (text: string): text is RunStatus => Object.hasOwn(STATUS_NAMES, text)

/** The address of the list with a filter and, for a further page, a cursor. What is usual is left out. */
export const addressOf = (filter: ShownFilter, changes: Partial<ShownFilter> & { cursor?: string } = {}): string => {
  const asked = Object.entries({ ...filter, ...changes }).filter(
    ([name, value]) => value !== undefined && USUAL[name] !== value,
  )
  const query = new URLSearchParams(asked as [string, string][]).toString()
  return query === '' ? '/console/runs' : `/console/runs?${query}`
}

const USUAL: Readonly<Record<string, string>> = { range: '24h', view: 'gallery' }
