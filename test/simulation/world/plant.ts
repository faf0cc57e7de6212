import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pLimit from 'p-limit'
import { type PlantedFault, plantedFaults } from './planted-faults.ts'

/** Plants each fault in a copy of this commit, and says how soon a world or a test finds it. */

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seeds: { type: 'string', default: '1000' },
  },
})

/** A copy whose programs run this long does not end. */
const MAX_MINUTES = 20

const simulate = ['test/simulation/world/simulate.ts', '--seed', '1', '--seeds', values.seeds, '--stop-at-failure']

/** How the fault shows; undefined if nothing finds it. */
const find = async ({ file, from, to, test }: PlantedFault): Promise<string | undefined> => {
  const copy = mkdtempSync(join(tmpdir(), 'tollgate-plant-'))
  try {
    execFileSync('git', ['clone', '-q', '--shared', '.', copy])
    symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
    const path = join(copy, 'src', file)
    const parts = readFileSync(path, 'utf8').split(from)
    if (parts.length !== 2) throw new Error(`${file} holds this text ${parts.length - 1} times: ${from}`)
    writeFileSync(path, parts.join(to))
    const { status, output } = await run(copy, test ? [test] : simulate)
    if (status === 0) return undefined
    if (test) return test
    const seed = /^seed (\d+) fails/m.exec(output)?.[1]
    const [first = output.trim().split('\n').at(-1)] = /^ {2}(?!npm run).+/m.exec(output) ?? []
    return `${seed ? `seed ${seed}` : 'a world that does not end'}: ${first?.trim()}`
  } finally {
    rmSync(copy, { recursive: true })
  }
}

const run = (cwd: string, [program, ...args]: string[]) =>
  new Promise<{ status: number | null; output: string }>((resolve, reject) => {
    const child = spawn(process.execPath, ['--import=tsx', program as string, ...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: MAX_MINUTES * 60_000,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    child.on('error', reject)
    child.on('close', status => resolve({ status, output }))
  })

const names = values.only.split(',')
const chosen = plantedFaults.filter(({ what }) => names.some(name => what.includes(name)))
const limit = pLimit(availableParallelism())
let found = 0
await limit.map(chosen, async fault => {
  const by = await find(fault)
  if (by) found += 1
  console.log(`${fault.what} (${fault.file}): ${by ?? 'NOT FOUND'}`)
})
console.log(`${found} of ${chosen.length} found`)
process.exitCode = found === chosen.length ? 0 : 1
