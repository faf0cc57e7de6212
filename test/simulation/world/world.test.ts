import t from 'tap'
import { World } from './world.ts'

/** Worlds that every test run lives through, in less than half a minute. `npm run simulate` lives through others. */
const SEEDS = 20

t.test('two worlds with one seed have the same trace', async t => {
  const [one, other] = [await new World({ seed: 7 }).live(), await new World({ seed: 7 }).live()]
  t.equal(one.traceHash, other.traceHash)
  t.not(one.traceHash, (await new World({ seed: 8 }).live()).traceHash)
})

t.test('nothing goes wrong in any world', async t => {
  for (let seed = 1; seed <= SEEDS; seed++) t.same((await new World({ seed }).live()).violations, [], `seed ${seed}`)
})
