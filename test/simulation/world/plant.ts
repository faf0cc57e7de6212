import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pLimit from 'p-limit'
import { type PlantedFault, plantedFaults, withFault } from './planted-faults.ts'

/** Plants each fault in a copy of the last commit, and prints the world or the test that finds it. */

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seeds: { type: 'string', default: '1000' },
  },
})

/** A world that does not end counts as not found. A thousand worlds take about a quarter of an hour. */
const MAX_MINUTES = 40

const simulate = ['test/simulation/world/simulate.ts', '--seed', '1', '--seeds', values.seeds, '--stop-at-failure']

/** Runs a program in a copy of the last commit, which `change` may change first. */
const runCopy = async (program: string[], change: (copy: string) => void = () => undefined) => {
  const copy = mkdtempSync(join(tmpdir(), 'tollgate-plant-'))
  try {
    execFileSync('git', ['clone', '-q', '--shared', '.', copy])
    symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
    change(copy)
    return await run(copy, program)
  } finally {
    rmSync(copy, { recursive: true })
  }
}

const run = (cwd: string, program: string[]) =>
  new Promise<{ status: number | null; output: string }>((resolve, reject) => {
    const child = spawn(process.execPath, ['--import=tsx', ...program], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: MAX_MINUTES * 60_000,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    child.on('error', reject)
    child.on('close', status => resolve({ status, output }))
  })

const plant = (copy: string, fault: PlantedFault) => {
  const path = join(copy, 'src', fault.file)
  writeFileSync(path, withFault(readFileSync(path, 'utf8'), fault))
}

/** The world or the test that finds a fault; undefined if nothing does. */
const find = async (fault: PlantedFault): Promise<string | undefined> => {
  const { status, output } = await runCopy(fault.test ? [fault.test] : simulate, copy => plant(copy, fault))
  // A test that reaches its time limit ends by a signal: it fails as well.
  if (fault.test) return status !== 0 ? fault.test : undefined
  const [, seed, violation] = /^seed (\d+) fails.*\n.*\n +(.+)/m.exec(output) ?? []
  return seed && `seed ${seed}: ${violation}`
}

const names = values.only.split(',')
const chosen = plantedFaults.filter(({ what }) => names.some(name => what.includes(name)))
if (chosen.length === 0) {
  console.error(`--only matches no fault: ${values.only}`)
  process.exit(2)
}
if (execFileSync('git', ['status', '--porcelain']).length > 0) console.log('Uncommitted changes are ignored.')
const limit = pLimit(availableParallelism())
const tests = [...new Set(chosen.flatMap(({ test = [] }) => test))]
await limit.map(tests, async test => {
  if ((await runCopy([test])).status !== 0) throw new Error(`${test} fails without any fault`)
})
let found = 0
await limit.map(chosen, async fault => {
  const by = await find(fault)
  if (by) found += 1
  console.log(`${fault.what} (${fault.file}): ${by ?? 'NOT FOUND'}`)
})
console.log(`${found} of ${chosen.length} found`)
process.exitCode = found === chosen.length ? 0 : 1
