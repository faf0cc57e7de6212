import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import pLimit from 'p-limit'
import { apply, type Mutant, readMutants } from './mutants.ts'

/** Applies each mutant to a copy of the tree, and prints what catches it: a test, or the first world that fails. */

const { values, positionals } = parseArgs({
  options: { seeds: { type: 'string', default: '1000' } },
  allowPositionals: true,
})

/** A world that does not end counts as a miss. A thousand worlds take about a quarter of an hour. */
const MAX_MINUTES = 40

const simulate = ['test/simulation/world/simulate.ts', '--seed', '1', '--seeds', values.seeds, '--stop-at-failure']

/** Folders that a copy shares with this tree. */
const shared = ['node_modules', join('test', 'outside', 'node_modules')]

/** Neither source nor small. */
const left = new Set(['node_modules', 'dist', 'data', '.git', '.tap'])

/** A test that only runs out of time on a busy machine has caught nothing. Worlds print the commit. */
const env = { ...process.env, TAP_TIMEOUT: '600', GIT_DIR: resolve('.git') }

/** Runs a program in a copy of the tree, with a mutant or without. */
const runCopy = async (program: string[], mutant?: Mutant) => {
  const copy = mkdtempSync(join(tmpdir(), 'tollgate-mutant-'))
  try {
    cpSync('.', copy, { recursive: true, filter: path => !left.has(basename(path)) })
    for (const folder of shared) symlinkSync(resolve(folder), join(copy, folder))
    if (mutant) apply(mutant, copy)
    return await run(copy, program)
  } finally {
    rmSync(copy, { recursive: true })
  }
}

const run = (cwd: string, program: string[]) =>
  new Promise<{ status: number | null; output: string }>((resolve, reject) => {
    const child = spawn(process.execPath, ['--import=tsx', ...program], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: MAX_MINUTES * 60_000,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    child.on('error', reject)
    child.on('close', status => resolve({ status, output }))
  })

/** The test or the world that catches a mutant; undefined if nothing does. */
const catcherOf = async (mutant: Mutant): Promise<string | undefined> => {
  const { status, output } = await runCopy(mutant.test ? [mutant.test] : simulate, mutant)
  // A test that reaches its time limit ends by a signal: it fails as well.
  if (mutant.test) return status !== 0 ? mutant.test : undefined
  const [, seed, violation] = /^seed (\d+) fails.*\n.*\n +(.+)/m.exec(output) ?? []
  if (status !== 0 && !seed) throw new Error(`the worlds of ${mutant.name} did not run:\n${output}`)
  return seed && `seed ${seed}: ${violation}`
}

const mutants = readMutants(positionals)
if (mutants.length === 0) {
  console.error(`No mutant has this in its name: ${positionals.join(', ')}`)
  process.exit(2)
}
const limit = pLimit(availableParallelism())
const tests = [...new Set(mutants.flatMap(({ test = [] }) => test))]
await limit.map(tests, async test => {
  const { status, output } = await runCopy([test])
  if (status !== 0) throw new Error(`${test} fails without any mutant:\n${output}`)
})
let caught = 0
await limit.map(mutants, async mutant => {
  const by = await catcherOf(mutant)
  if (by) caught += 1
  console.log(`${mutant.name}: ${by ? `caught by ${by}` : 'MISSED'}`)
})
console.log(`${caught} of ${mutants.length} caught`)
process.exitCode = caught === mutants.length ? 0 : 1
