import t from 'tap'
import { needsCluster } from '../support/cluster.ts'
import { clusterCrash } from './cluster-crash.ts'

t.setTimeout(280_000)

// By hand: node --import=tsx test/simulation/cluster-crash.ts --kills 20
t.test('a cluster whose processes are killed in turn loses nothing, and doubles nothing', needsCluster(), async t => {
  const { counts, ends, faults } = await clusterCrash(20)
  t.same(faults, [])
  // Without all of this, and without a request that a kill cut off, little would have been tried.
  for (const [kind, count] of Object.entries(counts)) t.ok(count > 10, `${kind}: ${count}`)
  t.ok(ends['interrupted'], 'runs have lost their process')
})
