import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { type Faults, noFaults } from './faults.ts'
import { shrink, type WorldSize } from './shrink.ts'
import { World } from './world.ts'

/** Lives through worlds until the time is up, and says how to replay those that fail. */

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    processes: { type: 'string', default: '3' },
    clients: { type: 'string', default: '4' },
    'busy-ms': { type: 'string', default: '20000' },
    without: { type: 'string', default: '' },
    shrink: { type: 'boolean', default: false },
    'stop-at-failure': { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
})

const toKind = (name: string): keyof Faults => {
  if (!(name in noFaults)) throw new Error(`there are no faults of the kind ${name}: ${Object.keys(noFaults)}`)
  return name as keyof Faults
}

const replayOf = ({ seed, processes, clients, busyMs, without }: WorldSize) => {
  const size = `--seed ${seed} --processes ${processes} --clients ${clients} --busy-ms ${busyMs}`
  return `npm run simulate -- ${size}${without.length > 0 ? ` --without ${without}` : ''} --trace`
}

const startMs = Date.now()
const first = values.seed === undefined ? startMs % 2 ** 31 : Number(values.seed)
const isOver = (seed: number) => {
  if (values.minutes !== undefined) return Date.now() - startMs > Number(values.minutes) * 60_000
  return seed >= first + Number(values.seeds ?? 1)
}
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
const total = { worlds: 0, failed: 0, simulatedMs: 0, steps: 0, events: 0 }

console.log(`worlds from seed ${first}, at ${commit}`)
for (let seed = first; !isOver(seed); seed++) {
  const size: WorldSize = {
    seed,
    processes: Number(values.processes),
    clients: Number(values.clients),
    busyMs: Number(values['busy-ms']),
    without: values.without.split(',').filter(Boolean).map(toKind),
  }
  const world = new World({ ...size, keepsTrace: values.trace })
  const { violations, trace, simulatedMs, steps, events, traceHash } = await world.live()
  for (const line of trace) console.log(line)
  if (values.seeds === undefined && values.minutes === undefined) console.log(`trace ${traceHash}`)
  total.worlds += 1
  total.simulatedMs += simulatedMs
  total.steps += steps
  total.events += events
  if (violations.length === 0) continue
  total.failed += 1
  process.exitCode = 1
  console.log(`seed ${seed} fails at ${commit}. To replay it:`)
  console.log(`  ${replayOf(size)}`)
  for (const violation of violations) console.log(`  ${violation}`)
  if (values.shrink) {
    const fails = async (smaller: WorldSize) => (await new World(smaller).live()).violations.length > 0
    console.log(`  The smallest world that fails, too:\n  ${replayOf(await shrink(size, fails))}`)
  }
  if (values['stop-at-failure']) break
}
const { worlds, failed, simulatedMs, steps, events } = total
const seconds = (Date.now() - startMs) / 1000
console.log(`${worlds} worlds, ${failed} failed; ${steps} steps, ${events} events`)
console.log(
  `${Math.round(simulatedMs / 1000)} s of simulated time in ${Math.round(seconds)} s, ${Math.round(simulatedMs / 1000 / seconds)} to 1`,
)
