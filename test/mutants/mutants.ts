import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A fault that a careless change could bring back, as a patch of one file. */
export interface Mutant {
  name: string
  /** The test that catches it; undefined if a simulated world does, within a number of seeds. */
  test: string | undefined
  file: string
  from: string
  to: string
}

const folder = join('test', 'mutants')

/** The first line of a patch where no test is named. */
const WORLDS = 'simulated worlds'

/** The mutants whose names have one of these words; without words, all. */
export const readMutants = (words: string[] = []): Mutant[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.patch') && (words.length === 0 || words.some(word => name.includes(word))))
    .sort()
    .map(name => parse(name.replace(/\.patch$/, ''), readFileSync(join(folder, name), 'utf8')))

const parse = (name: string, text: string): Mutant => {
  const caughtBy = /^Caught by (.+)\n/.exec(text)?.[1]
  const [, file, hunk] = /^--- a\/(.+)\n\+\+\+ .+\n@@ .+ @@.*\n((?:[ +-].*\n)+)$/m.exec(text) ?? []
  if (!caughtBy || !file || !hunk) throw new Error(`${name} is no patch of one hunk, after "Caught by" a test`)
  const lines = hunk.split('\n').slice(0, -1)
  const without = (sign: string) =>
    lines.flatMap(line => (line.startsWith(sign) ? [] : [`${line.slice(1)}\n`])).join('')
  return { name, test: caughtBy === WORLDS ? undefined : caughtBy, file, from: without('+'), to: without('-') }
}

/** The text of the file with the fault. Throws unless the lines of the patch stand there once: their number may change. */
export const mutated = ({ name, file, from, to }: Mutant, root = ''): string => {
  const parts = readFileSync(join(root, file), 'utf8').split(from)
  if (parts.length !== 2) throw new Error(`${name} does not apply: ${file} has its lines ${parts.length - 1} times`)
  return parts.join(to)
}

export const apply = (mutant: Mutant, root: string) => writeFileSync(join(root, mutant.file), mutated(mutant, root))
