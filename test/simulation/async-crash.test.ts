import t from 'tap'
import { asyncCrash } from './async-crash.ts'

t.setTimeout(240_000)

// By hand: node --import=tsx test/simulation/async-crash.ts --kills 2 --runs 3
t.test(
  'a service that is killed at any step of an async run goes on with it: one job, one end, one charge',
  async t => {
    const { runs, faults } = await asyncCrash({ kills: 2, runs: 3 })
    t.same(faults, [])
    // Four steps, where three runs die once, three twice, and three are sync.
    t.equal(runs, 36)
  },
)
