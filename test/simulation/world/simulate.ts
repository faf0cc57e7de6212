import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { type Faults, noFaults } from './faults.ts'
import { shrink, type WorldSize } from './shrink.ts'
import { World } from './world.ts'

/** Runs worlds, and prints for each that fails the command that replays it. */

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    processes: { type: 'string', default: '3' },
    clients: { type: 'string', default: '4' },
    'busy-ms': { type: 'string', default: '20000' },
    without: { type: 'string', default: '' },
    commands: { type: 'string', default: '' },
    'crash-at': { type: 'string', default: 'Infinity' },
    shrink: { type: 'boolean', default: false },
    'stop-at-failure': { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
})

const toKind = (name: string): keyof Faults => {
  if (name in noFaults) return name as keyof Faults
  console.error(`--without names an unknown fault, ${name}. The faults are ${Object.keys(noFaults).join(', ')}.`)
  process.exit(2)
}

const replayOf = ({ seed, processes, clients, busyMs, without, commands, crashAt }: WorldSize) => {
  const size = `--seed ${seed} --processes ${processes} --clients ${clients} --busy-ms ${busyMs}`
  const rest = [
    ...(without.length > 0 ? [`--without ${without}`] : []),
    ...(commands.length > 0 ? [`--commands ${commands}`] : []),
    ...(Number.isFinite(crashAt) ? [`--crash-at ${crashAt}`] : []),
  ]
  return ['npm run simulate --', size, ...rest, '--trace'].join(' ')
}

/** A whole number from the command line. */
const numberOf = (name: 'seed' | 'seeds' | 'minutes' | 'processes' | 'clients' | 'busy-ms', least: number): number => {
  const number = Number(values[name])
  if (Number.isInteger(number) && number >= least) return number
  console.error(`--${name} must be a whole number of at least ${least}, but is ${values[name]}.`)
  process.exit(2)
}

const startMs = Date.now()
const first = values.seed === undefined ? startMs % 2 ** 31 : numberOf('seed', 0)
const minutes = values.minutes === undefined ? undefined : numberOf('minutes', 1)
const seeds = values.seeds === undefined ? 1 : numberOf('seeds', 1)
const isOver = (seed: number) =>
  minutes === undefined ? seed >= first + seeds : Date.now() - startMs > minutes * 60_000
const [processes, clients, busyMs] = [numberOf('processes', 1), numberOf('clients', 1), numberOf('busy-ms', 1)]
const without = values.without.split(',').filter(Boolean).map(toKind)
const commands = values.commands.split(',').filter(Boolean)
const crashAt = Number(values['crash-at'])
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
const total = { worlds: 0, failed: 0, simulatedMs: 0, steps: 0, events: 0 }

console.log(`worlds from seed ${first}, at ${commit}`)
for (let seed = first; !isOver(seed); seed++) {
  const size: WorldSize = { seed, processes, clients, busyMs, without, commands, crashAt }
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
console.log(`${worlds} ${worlds === 1 ? 'world' : 'worlds'}, ${failed} failed; ${steps} steps, ${events} events`)
console.log(
  `${Math.round(simulatedMs / 1000)} s of simulated time in ${Math.round(seconds)} s, ${Math.round(simulatedMs / 1000 / seconds)} to 1`,
)
