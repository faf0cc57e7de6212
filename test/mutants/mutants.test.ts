import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { mutated, readMutants } from './mutants.ts'

t.test('every mutant applies, and the tests that catch mutants exist', async t => {
  for (const mutant of readMutants()) {
    const { name, file, test } = mutant
    t.doesNotThrow(() => t.not(mutated(mutant), readFileSync(file, 'utf8'), `${name} changes ${file}`), name)
    if (test) t.ok(existsSync(test), `${name}: ${test} exists`)
  }
})
