import { appends } from './appends.ts'
import { asyncRuns, asyncRunsEnded } from './async-runs.ts'
import { MAX_HEALTH_MS, MAX_PEAK_BYTES, measureAttacks } from './attacks.ts'
import { balance } from './balance.ts'
import { eventStoreAppends } from './event-store-appends.ts'
import { measureLeaderChanges, showLeaderChanges } from './event-store-leader.ts'
import { eventStoreReplay } from './event-store-replay.ts'
import { MAX_RATIO, measureFairness } from './fairness.ts'
import { hotAccount } from './hot-account.ts'
import { measureInFlight } from './in-flight.ts'
import { mcp } from './mcp.ts'
import { measureMemory } from './memory.ts'
import { redisProjector } from './redis-projector.ts'
import { redisViews } from './redis-views.ts'
import { replay } from './replay.ts'
import { measureSimulation } from './simulation.ts'
import { measureStall } from './stall.ts'
import { startUp } from './start-up.ts'
import { type Benchmark, compare, type Result } from './support/compare.ts'
import { syncRuns } from './sync-runs.ts'
import { twoProcesses } from './two-processes.ts'
import { uploads } from './uploads.ts'
import { webhooks } from './webhooks.ts'

const benchmarks: Benchmark[] = [
  ...[appends, syncRuns, asyncRuns, asyncRunsEnded, balance, mcp, replay, hotAccount, webhooks, uploads, startUp],
  ...[redisViews, redisProjector, twoProcesses],
  ...[...eventStoreAppends, eventStoreReplay],
]

const show = (result: Result) => {
  const { name, question, baseline, unit, baselineMedian, measuredMedian, ratio, goal, reached } = result
  const round = (number: number) => Math.round(number).toLocaleString('en')
  const target = goal && ('atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`)
  const verdict = reached === null ? '' : reached ? ', reached' : ', MISSED'
  console.log(`${name}: ${question}`)
  console.log(`  ${round(measuredMedian)} ${unit}, baseline ${round(baselineMedian)} (${baseline})`)
  const cpu = result.cpuMicrosPerOperation
  if (cpu) console.log(`  CPU per operation ${round(cpu.measured)} µs, baseline ${round(cpu.baseline)} µs`)
  console.log(`  ratio ${ratio.toFixed(2)}${target ? `, goal ${target}${verdict}` : ''}\n`)
}

const json = process.argv.includes('--json')
const names = process.argv.slice(2).filter(argument => !argument.startsWith('--'))
/** A name also selects all benchmarks that continue it with a dash, as `event-store` does. */
const isSelected = (name: string) =>
  names.length === 0 || names.some(selected => name === selected || name.startsWith(`${selected}-`))

const results: Result[] = []
for (const benchmark of benchmarks.filter(({ name }) => isSelected(name))) {
  const result = await compare(benchmark)
  results.push(result)
  if (!json) show(result)
}
const memory = isSelected('memory') ? await measureMemory() : undefined
const inFlight = isSelected('in-flight') ? await measureInFlight() : undefined
const simulation = isSelected('simulation') ? await measureSimulation() : undefined
const stall = isSelected('stall') ? await measureStall() : undefined
const fairness = isSelected('fairness') ? await measureFairness() : undefined
const attacks = isSelected('attacks') ? await measureAttacks() : undefined
const leaderChanges = isSelected('event-store-leader') ? await measureLeaderChanges() : undefined
const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20).toLocaleString('en')} MB`
if (json)
  console.log(
    JSON.stringify(
      { answers: results, memory, inFlight, simulation, stall, fairness, attacks, leaderChanges },
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
if (!json && fairness) {
  console.log('fairness: the wait of one account, alone and while another floods the service, 95th percentile')
  for (const { flood, measured, aloneMs, floodedMs, ratio } of fairness) {
    const verdict = ratio <= MAX_RATIO ? 'reached' : 'MISSED'
    console.log(`  ${measured}: ${aloneMs.toFixed(1)} ms alone, ${floodedMs.toFixed(1)} ms beside ${flood}`)
    console.log(`    ratio ${ratio.toFixed(2)}, goal at most ${MAX_RATIO}, ${verdict}`)
  }
}
if (!json && attacks) {
  console.log('attacks: the longest wait of a health check on a new connection, and the memory at its peak')
  for (const { attack, healthMs, bareHealthMs = MAX_HEALTH_MS, peakBytes, filesLeftOpen } of attacks) {
    const maxMs = Math.max(MAX_HEALTH_MS, bareHealthMs)
    const verdict = healthMs <= maxMs && peakBytes <= MAX_PEAK_BYTES ? 'reached' : 'MISSED'
    console.log(`  ${attack}: ${Math.round(healthMs)} ms, ${megabytes(peakBytes)}, ${filesLeftOpen} files left open`)
    console.log(`    goal at most ${Math.round(maxMs)} ms and ${megabytes(MAX_PEAK_BYTES)}, ${verdict}`)
  }
}
if (!json && stall) {
  const { requests, idleMs, worst } = stall
  console.log(`stall: ${requests} of the most expensive requests, while another client requests /healthz`)
  console.log(`  its longest wait is ${Math.round(idleMs)} ms alone, and in ms of wait and of CPU per request:`)
  for (const { name, status, longestMs, cpuMs } of worst)
    console.log(`  ${Math.round(longestMs)} and ${Math.round(cpuMs)}: ${name} (${status})`)
}
if (!json && leaderChanges) showLeaderChanges(leaderChanges)
