import { appends } from './appends.ts'
import { asyncRuns } from './async-runs.ts'
import { balance } from './balance.ts'
import { eventStoreAppends } from './event-store-appends.ts'
import { measureLeaderChanges, showLeaderChanges } from './event-store-leader.ts'
import { eventStoreReplay } from './event-store-replay.ts'
import { hotAccount } from './hot-account.ts'
import { measureInFlight } from './in-flight.ts'
import { mcp } from './mcp.ts'
import { measureMemory } from './memory.ts'
import { redisProjector } from './redis-projector.ts'
import { redisViews } from './redis-views.ts'
import { replay } from './replay.ts'
import { startUp } from './start-up.ts'
import { type Answer, answer, type Question } from './support/compare.ts'
import { syncRuns } from './sync-runs.ts'
import { twoProcesses } from './two-processes.ts'
import { uploads } from './uploads.ts'
import { webhooks } from './webhooks.ts'

const questions: Question[] = [
  ...[appends, syncRuns, asyncRuns, balance, mcp, replay, hotAccount, webhooks, uploads, startUp],
  ...[redisViews, redisProjector, twoProcesses],
  ...[...eventStoreAppends, eventStoreReplay],
]

const show = (given: Answer) => {
  const { name, question, baseline, unit, baselineMedian, measuredMedian, ratio, goal, reached } = given
  const round = (number: number) => Math.round(number).toLocaleString('en')
  const asked = goal && ('atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`)
  const verdict = reached === null ? '' : reached ? ', reached' : ', MISSED'
  console.log(`${name}: ${question}`)
  console.log(`  ${round(measuredMedian)} ${unit}, baseline ${round(baselineMedian)} (${baseline})`)
  const cpu = given.cpuMicrosPerOperation
  if (cpu) console.log(`  CPU per operation ${round(cpu.measured)} µs, baseline ${round(cpu.baseline)} µs`)
  console.log(`  ratio ${ratio.toFixed(2)}${asked ? `, asked for ${asked}${verdict}` : ''}\n`)
}

const json = process.argv.includes('--json')
const names = process.argv.slice(2).filter(argument => !argument.startsWith('--'))
/** `event-store` stands for all questions whose names begin with it and a dash. */
const wanted = (name: string) =>
  names.length === 0 || names.some(given => name === given || name.startsWith(`${given}-`))

const answers: Answer[] = []
for (const question of questions.filter(({ name }) => wanted(name))) {
  const given = await answer(question)
  answers.push(given)
  if (!json) show(given)
}
const memory = wanted('memory') ? await measureMemory() : undefined
const inFlight = wanted('in-flight') ? await measureInFlight() : undefined
const leaderChanges = wanted('event-store-leader') ? await measureLeaderChanges() : undefined
const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20).toLocaleString('en')} MB`
if (json) console.log(JSON.stringify({ answers, memory, inFlight, leaderChanges }, null, 2))
if (!json && memory) {
  console.log(`memory: a process that projected the events of ${memory.runs.toLocaleString('en')} runs`)
  console.log(
    `  ${megabytes(memory.ownBytes)} of its own, ${megabytes(memory.residentBytes)} resident with the mapped files`,
  )
}
if (!json && inFlight) {
  const { runs, completed, mostAtOnce, peakResidentBytes, seconds } = inFlight
  console.log(`in-flight: ${runs.toLocaleString('en')} async runs of the sandbox with a delay`)
  console.log(
    `  ${completed.toLocaleString('en')} completed in ${Math.round(seconds)} s, ${mostAtOnce.toLocaleString('en')} at once, at most ${megabytes(peakResidentBytes)} resident`,
  )
}
if (!json && leaderChanges) showLeaderChanges(leaderChanges)
