import { ProviderReport, type ReportedBreaker } from '../../../schemas/provider-report.ts'
import { compileGuard } from '../../engine/log/codec.ts'
import { MAX_CLOCK_SKEW_MS, type ViewStore } from '../../ports/view-store.ts'

/** How long a report is believed. A process renews its own earlier, unless it has died. */
export const REPORT_MS = 30_000

/** Far more than a report of MAX_REPORTED_BREAKERS needs. */
const MAX_REPORT_LENGTH = 1024 * 1024

/** How one provider is in all processes that submit jobs. */
export interface ReportedProvider {
  /** The processes that report it. */
  processes: number
  /** Calls in progress, and the most such calls. */
  calls: number
  maxCalls: number
  /** The open breakers, one for each account and model: of the process whose breaker stays open longest. */
  openBreakers: SharedBreaker[]
}

/** A breaker that is open in some of the processes that report the provider. */
export interface SharedBreaker extends ReportedBreaker {
  processes: number
}

/** The reports of the live processes, by provider. Reports that no service wrote are ignored. */
export const readReports = async (
  views: Pick<ViewStore, 'reports'>,
  nowMs: number,
): Promise<Map<string, ReportedProvider>> => {
  const byProvider = new Map<string, ReportedProvider>()
  const longest = new Map<string, SharedBreaker>()
  for (const { text, untilMs } of await views.reports()) {
    if (!(untilMs > nowMs && untilMs <= nowMs + REPORT_MS + MAX_CLOCK_SKEW_MS)) continue
    const { calls, maxCalls, rests } = parse(text) ?? NOTHING
    for (const [provider, inProgress] of Object.entries(calls)) {
      const before = byProvider.get(provider) ?? { processes: 0, calls: 0, maxCalls: 0, openBreakers: [] }
      byProvider.set(provider, {
        processes: before.processes + 1,
        calls: before.calls + inProgress,
        maxCalls: before.maxCalls + maxCalls,
        openBreakers: before.openBreakers,
      })
    }
    for (const breaker of rests) {
      if (Date.parse(breaker.until) <= nowMs) continue
      const name = [breaker.provider, breaker.account, breaker.model].join(' ')
      const before = longest.get(name)
      const processes = (before?.processes ?? 0) + 1
      longest.set(name, before && before.until > breaker.until ? { ...before, processes } : { ...breaker, processes })
    }
  }
  for (const breaker of longest.values()) byProvider.get(breaker.provider)?.openBreakers.push(breaker)
  return byProvider
}

const NOTHING: ProviderReport = { calls: {}, maxCalls: 0, rests: [] }

const isReport = compileGuard(ProviderReport)

const parse = (text: string): ProviderReport | undefined => {
  if (text.length > MAX_REPORT_LENGTH) return undefined
  try {
    const report: unknown = JSON.parse(text)
    return isReport(report) ? report : undefined
  } catch {
    return undefined
  }
}
