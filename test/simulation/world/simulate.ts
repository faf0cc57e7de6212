import { parseArgs } from 'node:util'
import { World } from './world.ts'

// npm run simulate -- [--seed S] [--minutes M] [--trace]

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
  },
})

const first = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed)
for (let seed = first; seed < first + Number(values.seeds); seed++) {
  const startMs = performance.now()
  const report = await new World({ seed, keepsTrace: values.trace }).live()
  for (const line of report.trace) console.log(line)
  const { simulatedMs, steps, events, faults, traceHash } = report
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  console.log(
    `seed ${seed}: ${simulatedMs} ms, ${steps} steps, ${events} events, ${seconds} s, ${traceHash.slice(0, 12)}`,
  )
  for (const fault of faults) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}
