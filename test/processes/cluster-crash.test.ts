import t from 'tap'
import { needsCluster } from '../support/cluster.ts'
import { testSeed } from '../support/seeded-random.ts'
import { clusterCrash } from './cluster-crash.ts'

t.setTimeout(280_000)

const size = { kills: 12, accounts: 4 }
const seed = testSeed()

// Run manually: node --import=tsx test/processes/cluster-crash.ts --kills 20 --seed SEED
t.test(`a cluster whose processes are killed in turn loses nothing (TEST_SEED=${seed})`, needsCluster(), async t => {
  const { counts, ends, faults } = await clusterCrash({ ...size, seed })
  t.same(faults, [])
  // Each kind of request occurs, including ones interrupted by a kill.
  for (const [kind, count] of Object.entries(counts)) t.ok(count > size.kills / 2, `${kind}: ${count}`)
  t.ok(ends['interrupted'], 'some runs lost their process')
})
