import { appends } from './appends.ts'
import { asyncRuns, asyncRunsEnded } from './async-runs.ts'
import { measureAttacks, showAttacks } from './attacks.ts'
import { auditVerify, auditVerifyWorkers } from './audit-verify.ts'
import { balance } from './balance.ts'
import { measureConsole, showConsole } from './console.ts'
import { durableSteps } from './durable-steps.ts'
import { encryption } from './encryption.ts'
import { eventStoreAppends } from './event-store-appends.ts'
import { measureLeaderChanges, showLeaderChanges } from './event-store-leader.ts'
import { eventStoreReplay } from './event-store-replay.ts'
import { measureFairness, showFairness } from './fairness.ts'
import { gateway } from './gateway.ts'
import { hotAccount } from './hot-account.ts'
import { measureInFlight, showInFlight } from './in-flight.ts'
import { measureLatency, showLatency } from './latency.ts'
import { ledger } from './ledger.ts'
import { limits } from './limits.ts'
import { lots } from './lots.ts'
import { mcp } from './mcp.ts'
import { measureMediaMemory, showMediaMemory } from './media-memory.ts'
import { measureMemory, showMemory } from './memory.ts'
import { metrics } from './metrics.ts'
import { purchases } from './purchases.ts'
import { redisProjector } from './redis-projector.ts'
import { redisViews } from './redis-views.ts'
import { replay } from './replay.ts'
import { sealing } from './sealing.ts'
import { measureSignIns, showSignIns } from './sign-in.ts'
import { measureSimulation, showSimulation } from './simulation.ts'
import { measureStall, showStall } from './stall.ts'
import { startUp } from './start-up.ts'
import { measurePacedStreams, showPacedStreams, streams } from './streams.ts'
import { type Benchmark, compare, type Medians, type Result, type Verdict } from './support/compare.ts'
import { syncRuns } from './sync-runs.ts'
import { syncRunsSealed } from './sync-runs-sealed.ts'
import { twoProcesses } from './two-processes.ts'
import { uploads } from './uploads.ts'
import { measureVerifierMemory, showVerifierMemory } from './verifier-memory.ts'
import { webhooks } from './webhooks.ts'

const benchmarks: Benchmark[] = [
  ...[
    appends,
    syncRuns,
    syncRunsSealed,
    limits,
    metrics,
    encryption,
    lots,
    purchases,
    asyncRuns,
    asyncRunsEnded,
    balance,
    ledger,
    mcp,
    replay,
    hotAccount,
    webhooks,
    uploads,
    startUp,
    auditVerify,
    auditVerifyWorkers,
    sealing,
    durableSteps,
  ],
  ...gateway,
  ...streams,
  ...[redisViews, redisProjector, twoProcesses],
  ...[...eventStoreAppends, eventStoreReplay],
]

/** Benchmarks without a baseline, which show what they measured in their own way. */
const report = <Measured>(name: string, measure: () => Promise<Measured>, show: (measured: Measured) => void) => ({
  name,
  measure: async () => {
    const measured = await measure()
    if (!json) show(measured)
    return measured
  },
})

const reports = [
  report('console', measureConsole, showConsole),
  report('latency', measureLatency, showLatency),
  report('memory', measureMemory, showMemory),
  report('media-memory', measureMediaMemory, showMediaMemory),
  report('verifier-memory', measureVerifierMemory, showVerifierMemory),
  report('in-flight', measureInFlight, showInFlight),
  report('simulation', measureSimulation, showSimulation),
  report('streams-pace', measurePacedStreams, showPacedStreams),
  report('stall', measureStall, showStall),
  report('fairness', measureFairness, showFairness),
  report('attacks', measureAttacks, showAttacks),
  report('sign-in', measureSignIns, showSignIns),
  report('event-store-leader', measureLeaderChanges, showLeaderChanges),
]

const micros = (number: number) => number.toFixed(number < 100 ? 1 : 0)
const round = (number: number) => Math.round(number).toLocaleString('en')

const shownVerdict = (verdict: Verdict | null) => {
  if (!verdict) return ''
  const goal = 'atLeast' in verdict ? `at least ${verdict.atLeast}` : `at most ${verdict.atMost}`
  return `, goal ${goal}, ${verdict.isReached ? 'reached' : 'MISSED'}`
}

const show = ({ name, question, baselineName, unit, baseline, measured, ratio, verdict, cpuMicros }: Result) => {
  console.log(`${name}: ${question}`)
  console.log(`  ${round(measured)} ${unit}, baseline ${round(baseline)} (${baselineName})`)
  console.log(`  ratio ${ratio.toFixed(2)}${shownVerdict(verdict)}`)
  if (cpuMicros) {
    const { main, all } = cpuMicros
    const both = (of: keyof Medians, shown: (number: number) => string) =>
      `${main ? `${shown(main[of])} / ` : ''}${shown(all[of])}`
    console.log(
      `  µs of CPU per operation, ${main ? 'main thread / ' : ''}all threads: ` +
        `${both('measured', micros)}, baseline ${both('baseline', micros)}, ` +
        `ratio ${both('ratio', number => number.toFixed(2))}${shownVerdict(cpuMicros.verdict)}`,
    )
  }
  console.log()
}

const json = process.argv.includes('--json')
const names = process.argv.slice(2).filter(argument => !argument.startsWith('--'))
/** A name also selects all benchmarks that continue it with a dash, as `event-store` does. */
const isSelected = ({ name }: { name: string }) =>
  names.length === 0 || names.some(selected => name === selected || name.startsWith(`${selected}-`))

console.error(`Node.js ${process.version}\n`)
const answers: (Result | { name: string; skipped: string })[] = []
for (const benchmark of benchmarks.filter(isSelected)) {
  const missing = benchmark.missing?.()
  if (missing) {
    answers.push({ name: benchmark.name, skipped: missing })
    if (!json) console.log(`${benchmark.name}: skipped; ${missing}\n`)
    continue
  }
  const result = await compare(benchmark)
  answers.push(result)
  if (!json) show(result)
}
const seen: Record<string, unknown> = {}
for (const { name, measure } of reports.filter(isSelected)) seen[name] = await measure()
if (json) console.log(JSON.stringify({ answers, ...seen }, null, 2))
