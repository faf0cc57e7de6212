import t from 'tap'
import { asyncCrash } from './async-crash.ts'

t.setTimeout(240_000)

// Run manually: node --import=tsx test/processes/async-crash.ts --kills 2 --runs 3
t.test('an async run survives a kill of the service at any step with one job, one outcome and one charge', async t => {
  const size = { kills: 2, runs: 3 }
  const { runs, faults } = await asyncCrash(size)
  t.same(faults, [])
  // Four steps. At each, some runs lose one process, some as many as are killed, and some are sync.
  t.equal(runs, 4 * (size.kills + 1) * size.runs)
})
