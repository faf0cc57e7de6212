import { appends } from './appends.ts'
import { balance } from './balance.ts'
import { hotAccount } from './hot-account.ts'
import { measureMemory } from './memory.ts'
import { replay } from './replay.ts'
import { startUp } from './start-up.ts'
import { type Answer, answer, type Question } from './support/compare.ts'
import { syncRuns } from './sync-runs.ts'

const questions: Question[] = [appends, syncRuns, balance, replay, hotAccount, startUp]

const show = ({ name, question, baseline, unit, baselineMedian, measuredMedian, ratio, goal, reached }: Answer) => {
  const round = (number: number) => Math.round(number).toLocaleString('en')
  const asked = goal && ('atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`)
  const verdict = reached === null ? '' : reached ? ', reached' : ', MISSED'
  console.log(`${name}: ${question}`)
  console.log(`  ${round(measuredMedian)} ${unit}, baseline ${round(baselineMedian)} (${baseline})`)
  console.log(`  ratio ${ratio.toFixed(2)}${asked ? `, asked for ${asked}${verdict}` : ''}\n`)
}

const json = process.argv.includes('--json')
const names = process.argv.slice(2).filter(argument => !argument.startsWith('--'))
const wanted = (name: string) => names.length === 0 || names.includes(name)

const answers: Answer[] = []
for (const question of questions.filter(({ name }) => wanted(name))) {
  const given = await answer(question)
  answers.push(given)
  if (!json) show(given)
}
const memory = wanted('memory') ? await measureMemory() : undefined
if (json) console.log(JSON.stringify({ answers, memory }, null, 2))
else if (memory) {
  const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20).toLocaleString('en')} MB`
  console.log(`memory: a process that projected the events of ${memory.runs.toLocaleString('en')} runs`)
  console.log(
    `  ${megabytes(memory.ownBytes)} of its own, ${megabytes(memory.residentBytes)} resident with the mapped files`,
  )
}
