import t from 'tap'
import { needsCluster } from '../support/cluster.ts'
import { clusterCrash } from './cluster-crash.ts'

t.setTimeout(280_000)

// Run manually: node --import=tsx test/simulation/cluster-crash.ts --kills 20
t.test('a cluster whose processes are killed in turn loses and repeats nothing', needsCluster(), async t => {
  const { counts, ends, faults } = await clusterCrash(20)
  t.same(faults, [])
  // Each kind of request must have occurred, including ones interrupted by a kill.
  for (const [kind, count] of Object.entries(counts)) t.ok(count > 10, `${kind}: ${count}`)
  t.ok(ends['interrupted'], 'some runs lost their process')
})
