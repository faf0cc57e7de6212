import { appends } from './appends.ts'
import { asyncRuns, asyncRunsEnded } from './async-runs.ts'
import { measureAttacks, showAttacks } from './attacks.ts'
import { auditVerify, auditVerifyWorkers } from './audit-verify.ts'
import { balance } from './balance.ts'
import { eventStoreAppends } from './event-store-appends.ts'
import { measureLeaderChanges, showLeaderChanges } from './event-store-leader.ts'
import { eventStoreReplay } from './event-store-replay.ts'
import { measureFairness, showFairness } from './fairness.ts'
import { gateway } from './gateway.ts'
import { hotAccount } from './hot-account.ts'
import { measureInFlight } from './in-flight.ts'
import { ledger } from './ledger.ts'
import { limits } from './limits.ts'
import { mcp } from './mcp.ts'
import { measureMemory } from './memory.ts'
import { redisProjector } from './redis-projector.ts'
import { redisViews } from './redis-views.ts'
import { replay } from './replay.ts'
import { sealing } from './sealing.ts'
import { measureSignIns, showSignIns } from './sign-in.ts'
import { measureSimulation } from './simulation.ts'
import { measureStall, showStall } from './stall.ts'
import { startUp } from './start-up.ts'
import { type Benchmark, compare, type Result } from './support/compare.ts'
import { megabytes } from './support/megabytes.ts'
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
  ],
  ...gateway,
  ...[redisViews, redisProjector, twoProcesses],
  ...[...eventStoreAppends, eventStoreReplay],
]

const micros = (number: number) => `${number.toFixed(number < 100 ? 1 : 0)} µs`

const show = (result: Result) => {
  const { name, question, baseline, unit, baselineMedian, measuredMedian, ratio, goal, reached } = result
  const round = (number: number) => Math.round(number).toLocaleString('en')
  const target = goal && ('atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`)
  const verdict = reached === null ? '' : reached ? ', reached' : ', MISSED'
  console.log(`${name}: ${question}`)
  console.log(`  ${round(measuredMedian)} ${unit}, baseline ${round(baselineMedian)} (${baseline})`)
  const cpu = result.cpuMicrosPerOperation
  if (cpu)
    console.log(
      `  CPU per operation ${micros(cpu.measured)}, baseline ${micros(cpu.baseline)}, ratio ${cpu.ratio.toFixed(2)}`,
    )
  console.log(`  ratio ${ratio.toFixed(2)}${target ? `, goal ${target}${verdict}` : ''}\n`)
}

const json = process.argv.includes('--json')
const names = process.argv.slice(2).filter(argument => !argument.startsWith('--'))
/** A name also selects all benchmarks that continue it with a dash, as `event-store` does. */
const isSelected = (name: string) =>
  names.length === 0 || names.some(selected => name === selected || name.startsWith(`${selected}-`))

console.error(`Node.js ${process.version}\n`)
const results: Result[] = []
for (const benchmark of benchmarks.filter(({ name }) => isSelected(name))) {
  const result = await compare(benchmark)
  results.push(result)
  if (!json) show(result)
}
const memory = isSelected('memory') ? await measureMemory() : undefined
const verifierMemory = isSelected('verifier-memory') ? await measureVerifierMemory() : undefined
const inFlight = isSelected('in-flight') ? await measureInFlight() : undefined
const simulation = isSelected('simulation') ? await measureSimulation() : undefined
const stall = isSelected('stall') ? await measureStall() : undefined
const fairness = isSelected('fairness') ? await measureFairness() : undefined
const attacks = isSelected('attacks') ? await measureAttacks() : undefined
const signIns = isSelected('sign-in') ? await measureSignIns() : undefined
const leaderChanges = isSelected('event-store-leader') ? await measureLeaderChanges() : undefined
if (json)
  console.log(
    JSON.stringify(
      {
        answers: results,
        memory,
        verifierMemory,
        inFlight,
        simulation,
        stall,
        fairness,
        attacks,
        signIns,
        leaderChanges,
      },
      null,
      2,
    ),
  )
if (!json && memory) {
  console.log(`memory: a process that projected the events of ${memory.runs.toLocaleString('en')} runs`)
  console.log(
    `  ${megabytes(memory.ownBytes)} private, ${megabytes(memory.residentBytes)} resident including mapped files`,
  )
}
if (!json && verifierMemory) showVerifierMemory(verifierMemory)
if (!json && inFlight) {
  const { runs, completed, maxInFlight, peakResidentBytes, seconds } = inFlight
  console.log(`in-flight: ${runs.toLocaleString('en')} async runs of the sandbox with a delay`)
  console.log(
    `  ${completed.toLocaleString('en')} completed in ${Math.round(seconds)} s, ` +
      `up to ${maxInFlight.toLocaleString('en')} at once, ${megabytes(peakResidentBytes)} resident at the peak`,
  )
}
if (!json && simulation) {
  const { worlds, simulatedPerSecond } = simulation
  console.log(
    `simulation: ${worlds} simulated worlds\n  ${Math.round(simulatedPerSecond)} s of simulated time in a second`,
  )
}
if (!json && fairness) showFairness(fairness)
if (!json && attacks) showAttacks(attacks)
if (!json && signIns) showSignIns(signIns)
if (!json && stall) showStall(stall)
if (!json && leaderChanges) showLeaderChanges(leaderChanges)
