import t from 'tap'
import { asyncCrash } from './async-crash.ts'

t.setTimeout(240_000)

// Run manually: node --import=tsx test/simulation/async-crash.ts --kills 2 --runs 3
t.test('an async run survives a kill of the service at any step with one job, one outcome and one charge', async t => {
  const { runs, faults } = await asyncCrash({ kills: 2, runs: 3 })
  t.same(faults, [])
  // Four steps with nine runs each: three lose one process, three lose two, and three are sync.
  t.equal(runs, 36)
})
