import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { plantedFaults, withFault } from './planted-faults.ts'

t.test('every fault can be planted, and the tests that find faults exist', async t => {
  for (const fault of plantedFaults) {
    const { what, file, test } = fault
    const text = readFileSync(join('src', file), 'utf8')
    t.doesNotThrow(() => t.not(withFault(text, fault), text, `${what}: the file changes`), what)
    if (test) t.ok(existsSync(test), `${what}: ${test} exists`)
  }
})
